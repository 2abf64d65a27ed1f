// A client of version 1 on the TypeScript SDK that prompts the agent of separators_test.go, loads its session and calls
// a method of it, and prints all updates and what it was asked as JSON:
//   node separators.mjs FOLDER TEXT COMMAND [ARGS...]
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { Host } from "./client-host.mjs";

const [cwd, text, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.on("exit", () => child.kill("SIGKILL"));
const host = new Host();
const report = {};
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
await host.app().connectWith(stream, async (agent) => {
  report.initialized = await agent.request("initialize", {
    protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  report.opened = await agent.request("session/new", { cwd, mcpServers: [] });
  const { sessionId } = report.opened;
  report.prompted = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text, _meta: { [text]: text } }] });
  report.updates = host.updates.splice(0);
  await agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  report.replayed = host.updates;
  report.asked = host.journal;
  report.called = await agent.request("_interop/" + text, { [text]: [text] }).catch((err) => String(err));
});
child.stdin.end();
console.log(JSON.stringify(report));
process.exit(0);
