// A client of version 1 on the TypeScript SDK, with files and terminals:
//   node client1.mjs FOLDER COMMAND [ARGS...]    drives examples/agent in a folder with the file notes
// It starts the agent a second time to load what the first one has stored, and prints one JSON object.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { Host } from "./client-host.mjs";

const [cwd, command, ...args] = process.argv.slice(2);
setTimeout(() => { throw new Error("no end after 60 s"); }, 60_000).unref();

// short is what the report has of an update.
const short = ({ update: u }) =>
  [u.sessionUpdate, u.title, u.status, u.content?.text, u.entries?.map((e) => e.status).join()].filter(Boolean).join(" ");

async function connected(work) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  process.on("exit", () => child.kill("SIGKILL"));
  const exited = new Promise((resolve) => child.on("exit", resolve));
  const host = new Host();
  await host.app().connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
    await agent.request("initialize", {
      protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    });
    await work(agent, host);
  });
  child.stdin.end();
  await exited;
}

const report = { stops: [], live: [], loaded: [], asked: [], errors: {} };
let sessionId;
const prompt = (agent, text) => agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
const asks = (host) => host.journal.filter(({ what }) => what === "session/request_permission").map(({ value }) => value.toolCall.title);

await connected(async (agent, host) => {
  const opened = await agent.request("session/new", { cwd, mcpServers: [] });
  sessionId = opened.sessionId;
  report.modes = opened.modes.availableModes.map((m) => m.id);
  await host.until(() => host.updates.some(({ update }) => update.sessionUpdate === "available_commands_update"));
  host.updates.length = 0;
  for (const [permission, text] of [
    ["allow_once", 'read notes, then edit notes: replace "two" with "2"'],
    ["allow_once", "run cat notes"],
    ["reject_once", "write made: x"],
  ]) {
    host.permission = permission;
    report.stops.push((await prompt(agent, text)).stopReason);
  }
  const cancelled = async (text, permission, when) => {
    host.permission = permission;
    const turn = prompt(agent, text);
    await host.until(when);
    agent.notify("session/cancel", { sessionId });
    host.held?.();
    report.stops.push((await turn).stopReason);
  };
  const before = host.terminals.size;
  await cancelled("run exec sleep 60", "allow_once", () => host.terminals.size > before);
  await cancelled("run echo never > made", "hold", () => host.held);
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  report.terminals = host.terminals.size;
  report.asked = asks(host);
  report.live = host.updates.map(short);
});

await connected(async (agent, host) => {
  report.listed = (await agent.request("session/list", {})).sessions.map((s) => s.title);
  report.mode = (await agent.request("session/load", { sessionId, cwd, mcpServers: [] })).modes.currentModeId;
  report.loaded = host.updates.map(short);
  host.updates.length = 0;
  await agent.request("session/resume", { sessionId, cwd, mcpServers: [] });
  report.resumed = host.updates.map(short);
  report.stops.push((await prompt(agent, "write made: x")).stopReason);
  report.askedLater = asks(host);
  await agent.request("session/delete", { sessionId });
  report.left = (await agent.request("session/list", {})).sessions.length;
  for (const method of ["session/load", "session/resume"]) {
    await agent.request(method, { sessionId, cwd, mcpServers: [] }).catch((error) => (report.errors[method] = error.code));
  }
});
console.log(JSON.stringify(report));
process.exit(0);
