// A client of version 2 on the TypeScript SDK. It checks every message against the schema.
//   node client2.mjs FOLDER COMMAND [ARGS...]    drives draft2/examples/agent in a folder with the file notes
// It prints one JSON object: {agent, stops, seen, listed, replayed, errors}.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";

const [cwd, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.on("exit", () => child.kill("SIGKILL"));
setTimeout(() => { throw new Error("no end after 30 s"); }, 30_000).unref();

const report = { stops: [], seen: [], errors: {} };
const app = acp
  .client({ name: "client2" })
  .onRequest("session/request_permission", ({ params }) => {
    report.seen.push(`ask ${params.title}`);
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  })
  .onNotification("session/update", ({ params: { update } }) => {
    report.seen.push([update.sessionUpdate, update.state ?? update.status].filter(Boolean).join(" "));
  });

const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
await app.connectWith(stream, async (agent) => {
  report.agent = await agent.request("initialize", { protocolVersion: 2, info: { name: "client2", version: "1" }, capabilities: {} });
  const session = await agent.buildSession(cwd).start();
  const { sessionId } = session;
  for (const text of ["read notes", 'edit notes: replace "two" with "2"', "run cat notes", "run exec sleep 60"]) {
    const before = report.seen.length;
    const { messageId } = await session.prompt(text);
    if (text === "run exec sleep 60") {
      while (!report.seen.slice(before).includes("tool_call_update in_progress")) await wait(10);
      await agent.notify("session/cancel", { sessionId });
    }
    for (;;) {
      const message = await session.nextUpdate();
      if (message.kind === "stop") {
        report.stops.push([message.update.stopReason, typeof messageId]);
        break;
      }
    }
  }
  report.listed = (await agent.request("session/list", {})).sessions.map((s) => s.title);
  await agent.request("session/close", { sessionId });
  const before = report.seen.length;
  await agent.request("session/resume", { sessionId, cwd, replayFrom: { type: "start" } });
  while (!report.seen.slice(before).includes("state_update idle")) await wait(10); // its handlers run later
  report.replayed = report.seen.splice(before);
  const set = await agent.request("session/set_config_option", { sessionId, configId: "mode", type: "id", value: "auto" });
  report.mode = set.configOptions.find((o) => o.configId === "mode").currentValue;
  for (const [method, params] of [
    ["session/prompt", { sessionId: "none", prompt: [{ type: "text", text: "x" }] }],
    ["tool_call/cancel", { sessionId, toolCallId: "none" }],
    ["terminal/cancel", { sessionId, terminalId: "none" }],
    ["session/resume", { sessionId: "none", cwd }],
  ]) {
    await agent.request(method, params).catch((error) => (report.errors[method] = error.code));
  }
});
child.stdin.end();
console.log(JSON.stringify(report));
process.exit(0);
