// The official TypeScript SDK in the benchmark. It understands the flags of the
// Go contenders (package work) and prints the same result; see there for what
// the works and tasks are.
//
// Run it with --expose-gc.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setImmediate as tick } from "node:timers/promises";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as acp from "@agentclientprotocol/sdk";

const SESSION = "sess_0123456789abcdef";
const MODE = "code";
const MARK = "_bench/mark";
const SYNC = "_bench/sync";
const anything = { parse: (params) => params };

const self = fileURLToPath(import.meta.url);
const corpora = {};

/** The params of the updates that an agent sends in turn. */
function corpus(kind) {
  return (corpora[kind] ??= JSON.parse(
    readFileSync(new URL(`../work/corpus/${kind}.json`, import.meta.url), "utf8"),
  ));
}

/** What a client counts for an update: the length of its text. */
function textLength(update) {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
    case "agent_thought_chunk":
      return update.content.text.length;
    case "tool_call_update":
      return update.content.reduce((n, d) => n + d.newText.length + (d.oldText?.length ?? 0), 0);
    case "plan":
      return update.entries.reduce((n, e) => n + e.content.length, 0);
  }
  return 0;
}

/** What this process has used so far. */
function counters(collect) {
  if (collect) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  return { cpu: (user + system) / 1e6, mallocs: 0, live: 0 };
}

// ---- the agent ----

async function sendUpdates(client, sessionId, kind, n, every) {
  const all = corpus(kind);
  for (let i = 0; i < n; i++) {
    await client.notify(acp.methods.client.session.update, {
      sessionId,
      update: all[i % all.length].update,
    });
    if (every > 0 && (i + 1) % every === 0) await client.request(SYNC, { sent: i + 1 });
  }
}

async function readFiles(client, sessionId, kind, size, n) {
  const path = `/bench/${kind}-${size}`;
  for (let i = 0; i < n; i++) {
    const { content } = await client.request(acp.methods.client.fs.readTextFile, { sessionId, path });
    if (content.length !== size) throw new Error(`read ${content.length} bytes, want ${size}`);
  }
}

function runTask(client, sessionId, text) {
  const [kind, ...rest] = text.split(" ");
  if (kind === "read") return readFiles(client, sessionId, rest[0], Number(rest[1]), Number(rest[2]));
  return sendUpdates(client, sessionId, kind, Number(rest[0]), Number(rest[1]));
}

function agentApp() {
  const m = acp.methods.agent;
  return acp
    .agent({ name: "bench" })
    .onRequest(m.initialize, () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }))
    .onRequest(m.session.setMode, () => ({}))
    .onRequest(m.session.prompt, async ({ params, client }) => {
      await runTask(client, params.sessionId, params.prompt[0].text);
      return { stopReason: "end_turn" };
    })
    .onRequest(m.session.load, async ({ params, client }) => {
      await sendUpdates(client, params.sessionId, "updates", Number(params.sessionId.slice("load-".length)), 0);
      return {};
    })
    .onRequest(MARK, anything, () => counters(true));
}

// ---- the client ----

class Tally {
  reset(target) {
    this.count = 0;
    this.length = 0;
    this.target = target;
    this.done = new Promise((resolve) => (this.resolve = resolve));
    if (target === 0) this.resolve();
  }
  add(length) {
    this.length += length;
    if (++this.count === this.target) this.resolve();
  }
}

function clientApp(env) {
  const m = acp.methods.client;
  return acp
    .client({ name: "bench" })
    .onNotification(m.session.update, ({ params }) => {
      env.tally.add(textLength(params.update));
    })
    .onRequest(m.fs.readTextFile, ({ params }) => ({ content: env.files[params.path] }))
    .onRequest(SYNC, anything, async ({ params }) => {
      while (env.tally.count < params.sent) await tick();
      return {};
    });
}

async function connect(stream, env) {
  const connection = clientApp(env).connect(stream);
  await connection.agent.request(acp.methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true } },
  });
  return connection;
}

/** Both ends in this process, over streams of bytes. */
async function pair(env) {
  const up = new TransformStream();
  const down = new TransformStream();
  agentApp().connect(acp.ndJsonStream(down.writable, up.readable));
  const connection = await connect(acp.ndJsonStream(up.writable, down.readable), env);
  return {
    agent: connection.agent,
    async close() {
      connection.close();
      await up.writable.close().catch(() => {});
    },
  };
}

/** A client here and the agent in a process of its own. */
async function child(env, work) {
  const process_ = spawn(process.execPath, ["--expose-gc", self, "-mode", "agent", "-work", work], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const stream = acp.ndJsonStream(Writable.toWeb(process_.stdin), Readable.toWeb(process_.stdout));
  const connection = await connect(stream, env);
  return {
    agent: connection.agent,
    async close() {
      const ended = new Promise((resolve) => process_.once("exit", resolve));
      process_.stdin.end();
      await ended;
    },
  };
}

/** Serves agents over HTTP and WebSocket and prints the URL; ends with stdin. */
async function listen() {
  const { createServer } = await import("node:http");
  const { AcpServer } = await import("@agentclientprotocol/sdk/experimental/server");
  const { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } = await import("@agentclientprotocol/sdk/experimental/node");
  const { WebSocketServer } = await import("ws");
  const server = new AcpServer({ createAgent: agentApp });
  const http = createServer(createNodeHttpHandler(server));
  http.on("upgrade", createNodeWebSocketUpgradeHandler(server, new WebSocketServer({ noServer: true })));
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  process.stdout.write(`http://127.0.0.1:${http.address().port}/acp\n`);
  process.stdin.resume().once("end", () => process.exit(0));
}

/** A client here and an agent that listens in a process of its own. */
async function remote(env, mode) {
  const process_ = spawn(process.execPath, ["--expose-gc", "--no-warnings", self, "-mode", "listen"], { stdio: ["pipe", "pipe", "inherit"] });
  const url = (await new Promise((resolve) => process_.stdout.once("data", resolve))).toString().trim();
  let stream;
  if (mode === "ws") {
    const { createWebSocketStream } = await import("@agentclientprotocol/sdk/experimental/ws-client");
    const { WebSocket } = await import("ws");
    stream = createWebSocketStream(url.replace("http", "ws"), { WebSocket });
  } else {
    const { createHttpStream } = await import("@agentclientprotocol/sdk/experimental/http-client");
    stream = createHttpStream(url);
  }
  const connection = await connect(stream, env);
  return {
    agent: connection.agent,
    async close() {
      connection.close();
      const ended = new Promise((resolve) => process_.once("exit", resolve));
      process_.stdin.end();
      await ended;
    },
  };
}

// ---- the clock ----

function updatesOf({ work, n, sessions }) {
  if (work === "updates" || work === "mixed") return Math.floor(n / sessions) * sessions;
  return work === "load" ? n : 0;
}

function expectedText(spec) {
  const n = updatesOf(spec);
  if (n === 0) return 0;
  const lengths = corpus(spec.work === "load" ? "updates" : spec.work).map((p) => textLength(p.update));
  let sum = 0;
  for (let i = 0; i < n / spec.sessions; i++) sum += lengths[i % lengths.length];
  return sum * spec.sessions;
}

async function setModes(agent, n, inFlight) {
  let left = n;
  const worker = async () => {
    while (left-- > 0) {
      await agent.request(acp.methods.agent.session.setMode, { sessionId: SESSION, modeId: MODE });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

function prompt(agent, sessionId, text) {
  return agent.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
}

async function doWork(agent, spec) {
  switch (spec.work) {
    case "rtt":
      return setModes(agent, spec.n, 1);
    case "rtt64":
      return setModes(agent, spec.n, 64);
    case "updates":
    case "mixed": {
      const task = `${spec.work} ${Math.floor(spec.n / spec.sessions)} ${spec.sync}`;
      return Promise.all(
        Array.from({ length: spec.sessions }, (_, i) =>
          prompt(agent, i === 0 ? SESSION : `sess_${i.toString(16).padStart(16, "0")}`, task),
        ),
      );
    }
    case "read":
      return prompt(agent, SESSION, `read ${spec.kind} ${spec.size} ${spec.n}`);
    case "load":
      return agent.request(acp.methods.agent.session.load, {
        sessionId: `load-${spec.n}`,
        cwd: "/bench",
        mcpServers: [],
      });
  }
  throw new Error(`unknown work ${spec.work}`);
}

async function run(agent, env, spec) {
  env.tally.reset(updatesOf(spec));
  const start = process.hrtime.bigint();
  await doWork(agent, spec);
  await env.tally.done;
  return Number(process.hrtime.bigint() - start) / 1e9;
}

function difference(after, before) {
  return { ...after, cpu: after.cpu - before.cpu };
}

async function measure(mode, spec, filesDir) {
  const env = { tally: new Tally(), files: {} };
  if (spec.work === "read") {
    env.files[`/bench/${spec.kind}-${spec.size}`] = readFileSync(`${filesDir}/${spec.kind}-${spec.size}`, "latin1");
  }
  const peer = mode === "pair" ? await pair(env) : mode === "stdio" ? await child(env, spec.work) : await remote(env, mode);
  const n = Math.max(1, Math.min(Math.floor(spec.n / 20), 2000));
  await run(peer.agent, env, { ...spec, n, sessions: Math.min(spec.sessions, n) });
  const agentBefore = mode !== "pair" ? await peer.agent.request(MARK) : undefined;
  const before = counters(true);
  const result = { ...spec, contender: "ts", wall: await run(peer.agent, env, spec) };
  result.client = difference(counters(false), before);
  if (agentBefore) result.agent = difference(await peer.agent.request(MARK), agentBefore);
  result.text = env.tally.length;
  const want = expectedText(spec);
  if (env.tally.count !== updatesOf(spec) || result.text !== want) {
    result.failure = `counted ${env.tally.count} updates with ${result.text} characters, want ${updatesOf(spec)} with ${want}`;
  }
  await peer.close();
  return result;
}

/** Opens n connections with both ends in this process and weighs them. */
async function idle(n) {
  const weigh = async () => {
    for (let i = 0; i < 3; i++) {
      globalThis.gc();
      await tick();
    }
    return process.memoryUsage().heapUsed;
  };
  const open = () => {
    const env = { tally: new Tally(), files: {} };
    env.tally.reset(0);
    return pair(env);
  };
  const peers = [await open()];
  const before = await weigh();
  for (let i = 0; i < n; i++) peers.push(await open());
  const heap = ((await weigh()) - before) / (2 * n);
  for (const peer of peers) await peer.close();
  return { work: "idle", n, contender: "ts", heap };
}

// The flags are those of the Go programs: one dash, words.
const { values: flags } = parseArgs({
  args: process.argv.slice(2).map((arg) => (/^-[a-z]/.test(arg) ? `-${arg}` : arg)),
  options: {
    mode: { type: "string", default: "pair" },
    work: { type: "string", default: "updates" },
    n: { type: "string", default: "1000" },
    kind: { type: "string", default: "ascii" },
    size: { type: "string", default: "1048576" },
    sync: { type: "string", default: "0" },
    sessions: { type: "string", default: "1" },
    files: { type: "string", default: "." },
  },
});

if (flags.mode === "listen") {
  await listen();
} else if (flags.mode === "agent") {
  agentApp().connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
} else {
  const spec = {
    work: flags.work,
    n: Number(flags.n),
    kind: flags.kind,
    size: Number(flags.size),
    sync: Number(flags.sync),
    sessions: Number(flags.sessions),
  };
  let result;
  try {
    result = flags.mode === "idle" ? await idle(spec.n) : await measure(flags.mode, spec, flags.files);
  } catch (err) {
    result = { ...spec, contender: "ts", failure: String(err) };
  }
  process.stdout.write(JSON.stringify(result) + "\n", () => process.exit(0));
}
