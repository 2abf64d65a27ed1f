// Runs the checks of a client against the agent that the command line names.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";

// A check that waits for what never comes must fail, not hang.
const soon = (name, promise) => {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${name}: no end after 15 s`)), 15_000)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

// local names the checks that need an agent which the client has started.
export async function drive(host, updates, conversation, local) {
  const [cwd, command, ...args] = process.argv.slice(2);
  const wanted = JSON.parse(readFileSync(updates, "utf8"));
  const remote = /^(http|ws):/.test(command);
  const child = remote ? null : spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = remote ? { code: 0, signal: null } : new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  process.on("exit", () => child?.kill("SIGKILL"));
  const report = { checks: [], updates: host.updates, journal: host.journal };
  const stream = child ? ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)) : await connect(command);
  try {
    const result = await host.app().connectWith(stream, async (agent) => {
      for (const [name, check] of conversation({ agent, host, cwd, wanted })) {
        if (remote && local.includes(name)) continue;
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
}

async function connect(url) {
  if (url.startsWith("http:")) {
    const { createHttpStream } = await import("@agentclientprotocol/sdk/experimental/http-client");
    return createHttpStream(url);
  }
  const { createWebSocketStream } = await import("@agentclientprotocol/sdk/experimental/ws-client");
  const { WebSocket } = await import("ws");
  return createWebSocketStream(url, { WebSocket });
}
