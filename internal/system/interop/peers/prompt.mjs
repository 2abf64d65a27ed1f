// A client of version 1 on the TypeScript SDK, with files and terminals, that sends one prompt:
//   node prompt.mjs FOLDER COMMAND [ARGS...]
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { Host } from "./client-host.mjs";

const [cwd, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.on("exit", () => child.kill("SIGKILL"));
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
await new Host().app().connectWith(stream, async (agent) => {
  const { protocolVersion } = await agent.request("initialize", {
    protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    clientInfo: { name: "prompt", version: "1" },
  });
  if (protocolVersion !== 1) throw new Error(`the agent speaks version ${protocolVersion}`);
  const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
  await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Hello." }] });
});
process.exit(0);
