// What the client offers its agent: permissions, real files below one folder, real terminals, elicitation.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import * as acp from "@agentclientprotocol/sdk/unstable";

const { RequestError, methods } = acp;
const raw = (params) => params;

export class Host {
  updates = []; // every session/update, in the order the SDK gave them out
  journal = []; // every request and other notification
  permission = "allow_once"; // an option's kind, or "hold" to keep the question open
  held = null; // ends a held question
  waiting = false; // _interop/client_wait has been asked
  terminals = new Map();
  made = 0;
  waiters = [];

  note(what, value) {
    this.journal.push({ what, value: value ?? null });
  }

  // Resolves once test(host) holds; looked at after every update.
  until(test) {
    if (test()) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push({ test, resolve }));
  }

  wake() {
    this.waiters = this.waiters.filter(({ test, resolve }) => !test() || resolve());
  }

  app() {
    const app = acp.client({ name: "interop-ts-client" });
    const on = (method, handle) =>
      app.onRequest(method, (ctx) => (this.note(method, ctx.params), this.wake(), handle(ctx)));
    app.onNotification("session/update", ({ params }) => {
      this.updates.push(params);
      this.wake();
    });
    on(methods.client.session.requestPermission, ({ params }) => this.decide(params));
    on(methods.client.fs.readTextFile, ({ params }) => this.read(params));
    on(methods.client.fs.writeTextFile, ({ params }) => writeFileSync(params.path, params.content));
    on(methods.client.terminal.create, ({ params }) => this.create(params));
    on(methods.client.terminal.output, ({ params }) => this.output(params));
    on(methods.client.terminal.waitForExit, ({ params }) => this.terminal(params).exit);
    on(methods.client.terminal.kill, ({ params }) => void this.terminal(params).child.kill("SIGKILL"));
    on(methods.client.terminal.release, ({ params }) => {
      this.terminal(params).child.kill("SIGKILL");
      this.terminals.delete(params.terminalId);
    });
    on(methods.client.elicitation.create, ({ params }) => this.elicit(params));
    app.onNotification("elicitation/complete", ({ params }) => this.note("elicitation/complete", params));
    app.onRequest("_interop/client_echo", raw, async ({ params }) => {
      if (params.after) await this.until(() => this.waiting);
      return { echo: params };
    });
    app.onRequest("_interop/client_wait", raw, ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => (this.note("_interop/client_wait cancelled"), this.wake(), reject(signal.reason)));
        this.waiting = true;
        this.wake();
      }));
    for (const method of ["_interop/client_note", "_interop/waiting"]) {
      app.onNotification(method, raw, ({ params }) => (this.note(method, params), this.wake()));
    }
    return app;
  }

  decide({ options }) {
    if (this.permission === "hold") {
      const answer = new Promise((resolve) => (this.held = () => resolve({ outcome: { outcome: "cancelled" } })));
      this.wake();
      return answer;
    }
    const { optionId } = options.find((option) => option.kind === this.permission);
    return { outcome: { outcome: "selected", optionId } };
  }

  read({ path, line, limit }) {
    let content;
    try {
      content = readFileSync(path, "utf8");
    } catch {
      throw RequestError.resourceNotFound(path);
    }
    if (line == null && limit == null) return { content };
    const start = Math.max((line ?? 1) - 1, 0);
    const lines = content.split("\n").slice(start, limit == null ? undefined : start + limit);
    return { content: lines.join("\n") };
  }

  create({ command, args, env, cwd }) {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...Object.fromEntries((env ?? []).map((e) => [e.name, e.value])) } });
    const terminal = { child, text: "", status: null };
    child.stdout.on("data", (b) => (terminal.text += b));
    child.stderr.on("data", (b) => (terminal.text += b));
    terminal.exit = new Promise((resolve) =>
      child.on("close", (exitCode, signal) => resolve((terminal.status = { exitCode, signal }))));
    const terminalId = `term-${++this.made}`;
    this.terminals.set(terminalId, terminal);
    return { terminalId };
  }

  terminal({ terminalId }) {
    const terminal = this.terminals.get(terminalId);
    if (!terminal) throw RequestError.resourceNotFound(terminalId);
    return terminal;
  }

  output(params) {
    const { text, status } = this.terminal(params);
    return { output: text, truncated: false, ...(status && { exitStatus: status }) };
  }

  elicit({ mode, message, requestedSchema }) {
    if (mode === "url") return { action: "accept" };
    if (message === "Decline me") return { action: "decline" };
    const answers = { token: "s3cret", name: "Ann", level: 3, share: 0.5, web: true, tags: ["a", "b"] };
    const names = Object.keys(requestedSchema.properties).filter((name) => name in answers);
    return { action: "accept", content: Object.fromEntries(names.map((name) => [name, answers[name]])) };
  }
}
