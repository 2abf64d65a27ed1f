// A client on the TypeScript SDK that drives any agent which behaves as README.md says:
//   node client.mjs FOLDER COMMAND [ARGS...]    an agent that it starts
//   node client.mjs FOLDER URL                  one that listens, with the scheme http or ws
// It checks what it sees and prints one JSON object: {checks, updates, journal, agent} or {failed, ...}.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/unstable";
import { Host } from "./client-host.mjs";
import { conversation } from "./client-checks.mjs";

const [cwd, command, ...args] = process.argv.slice(2);
const wanted = JSON.parse(readFileSync(new URL("updates.json", import.meta.url), "utf8"));
const remote = /^(http|ws):/.test(command);
const child = remote ? null : spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = remote ? { code: 0, signal: null } : new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
process.on("exit", () => child?.kill("SIGKILL"));

// A check that waits for what never comes must fail, not hang.
const soon = (name, promise) => {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${name}: no end after 15 s`)), 15_000)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

const host = new Host();
const report = { checks: [], updates: host.updates, journal: host.journal };
const stream = await connect();

async function connect() {
  if (command.startsWith("http:")) {
    const { createHttpStream } = await import("@agentclientprotocol/sdk/experimental/http-client");
    return createHttpStream(command);
  }
  if (command.startsWith("ws:")) {
    const { createWebSocketStream } = await import("@agentclientprotocol/sdk/experimental/ws-client");
    const { WebSocket } = await import("ws");
    return createWebSocketStream(command, { WebSocket });
  }
  return acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
}

try {
  const result = await host.app().connectWith(stream, async (agent) => {
    for (const [name, check] of conversation({ agent, host, cwd, wanted })) {
      if (remote && name === "before initialize") continue; // it ends the connection
      host.updates.length = 0;
      host.journal.length = 0;
      try {
        await soon(name, check());
      } catch (error) {
        report.failed = { check: name, message: error.message, data: error.data ?? null };
        return;
      }
      report.checks.push(name);
    }
    report.agent = await agent.request("_interop/journal", {});
  });
  child?.stdin.end();
  report.exit = await exited;
  assert.equal(result, undefined);
} catch (error) {
  report.failed ??= { check: "connection", message: error.message };
}
process.stdout.write(JSON.stringify(report) + "\n", () => process.exit(report.failed ? 1 : 0));
