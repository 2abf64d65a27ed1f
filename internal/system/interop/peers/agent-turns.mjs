// The turns of the agent: the first word of a prompt says what to do.
import { readFileSync } from "node:fs";
import { RequestError, methods } from "@agentclientprotocol/sdk/unstable";

const updates = JSON.parse(readFileSync(new URL("updates.json", import.meta.url), "utf8"));
const unstable = new Set(["plan_update", "plan_removed", "subagent_update", "session_message", "session_message_chunk"]);

export async function runTurn({ params, signal, client }, store) {
  const session = store.get(params.sessionId);
  const turn = new AbortController();
  session.turn = turn;
  // Both kinds of cancel end the turn: session/cancel through session.turn, $/cancel_request through signal.
  signal.addEventListener("abort", () => turn.abort());
  const update = async (value) => {
    session.history.push(value);
    await client.notify("session/update", { sessionId: session.id, update: value });
  };
  const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const cancelled = () => new Promise((resolve) => {
    if (turn.signal.aborted) resolve();
    turn.signal.addEventListener("abort", resolve);
  });
  const ask = (method, more) => client.request(method, { sessionId: session.id, ...more });
  // What the client answered goes into the journal; errors too.
  const tell = async (label, call) => {
    const answer = await call.then((v) => v ?? {}, (e) => ({ error: { code: e.code, message: e.message, data: e.data ?? null } }));
    store.note(`answer:${label}`, answer);
    return answer;
  };
  session.history.push({ sessionUpdate: "user_message_chunk", content: params.prompt[0] });
  const [word, ...args] = params.prompt[0].text.split(" ");
  const turns = {
    async say() {
      for (const arg of args) await say(arg);
    },
    async updates() {
      const known = updates.filter((u) => !unstable.has(u.sessionUpdate) || (store.client.plan && store.client.subagents));
      for (const u of known) await client.notify("session/update", { sessionId: session.id, update: u });
    },
    async permission() {
      const toolCall = { toolCallId: "call-1", title: "Edit a.txt", kind: "edit", status: "pending", rawInput: { path: "a.txt" },
        content: [{ type: "diff", path: `${session.cwd}/a.txt`, oldText: null, newText: "new\n" }], locations: [{ path: `${session.cwd}/a.txt`, line: 1 }] };
      await update({ sessionUpdate: "tool_call", ...toolCall });
      const { outcome } = await tell("permission", ask(methods.client.session.requestPermission, {
        toolCall, options: ["allow_once", "allow_always", "reject_once", "reject_always"].map((kind) => ({ optionId: `id-${kind}`, name: kind, kind })),
      }));
      await say(outcome.outcome === "selected" ? `selected ${outcome.optionId}` : outcome.outcome);
    },
    async files() {
      const path = `${session.cwd}/file.txt`;
      await tell("write", ask(methods.client.fs.writeTextFile, { path, content: "one\ntwo\nthree\nfour\n" }));
      await tell("read", ask(methods.client.fs.readTextFile, { path }));
      await tell("read lines", ask(methods.client.fs.readTextFile, { path, line: 2, limit: 2 }));
      await tell("read missing", ask(methods.client.fs.readTextFile, { path: `${session.cwd}/missing.txt` }));
    },
    async terminal() {
      const run = (script, more) => ask(methods.client.terminal.create, { command: "sh", args: ["-c", script], cwd: session.cwd, env: [{ name: "GREETING", value: "hello" }], ...more });
      const { terminalId } = await tell("terminal create", run("printf \"$GREETING in $PWD\"; exit 3", { outputByteLimit: 1000 }));
      await update({ sessionUpdate: "tool_call", toolCallId: "call-2", title: "sh", kind: "execute", status: "in_progress", content: [{ type: "terminal", terminalId }] });
      await tell("terminal wait", ask(methods.client.terminal.waitForExit, { terminalId }));
      await tell("terminal output", ask(methods.client.terminal.output, { terminalId }));
      await tell("terminal release", ask(methods.client.terminal.release, { terminalId }));
      const long = await tell("terminal create", run("echo started; exec sleep 60"));
      const exit = tell("terminal wait killed", ask(methods.client.terminal.waitForExit, long));
      await tell("terminal kill", ask(methods.client.terminal.kill, long));
      await exit;
      await tell("terminal release", ask(methods.client.terminal.release, long));
      await tell("terminal gone", ask(methods.client.terminal.output, long));
    },
    async form() {
      await tell("form", ask(methods.client.elicitation.create, { message: "Settings?", mode: "form", toolCallId: "call-1", requestedSchema: {
        type: "object", title: "Settings", required: ["name"], properties: {
          name: { type: "string", title: "Name", minLength: 1, maxLength: 20, default: "" },
          mail: { type: "string", format: "email" }, level: { type: "integer", minimum: 0, maximum: 9, default: 0 },
          share: { type: "number", minimum: 0, maximum: 1 }, web: { type: "boolean", default: false },
          size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }] },
          tags: { type: "array", minItems: 1, items: { type: "string", enum: ["a", "b", "c"] } } } } }));
      await tell("form declined", ask(methods.client.elicitation.create, { message: "Decline me", mode: "form", requestedSchema: { type: "object", properties: {} } }));
    },
    async url() {
      await tell("url", ask(methods.client.elicitation.create, { message: "Open this", mode: "url", elicitationId: "el-1", url: "https://example.com/login" }));
      await client.notify("elicitation/complete", { elicitationId: "el-1" });
      await say("completed");
    },
    // Streams, waits for the cancel, and says a last word before it answers.
    async wait() {
      await say("waiting");
      await cancelled();
      await say("stopping");
    },
    // The permission is still open when the client cancels: it must be answered "cancelled".
    async ["wait-permission"]() {
      await Promise.all([turns.permission(), cancelled()]);
    },
    // Takes its own question back with $/cancel_request.
    async takeback() {
      const stop = new AbortController();
      const answer = tell("takeback", client.request("_interop/client_wait", {}, { cancellationSignal: stop.signal }));
      await client.request("_interop/client_echo", { after: "wait" });
      stop.abort();
      await answer;
    },
    async extension() {
      await tell("extension", client.request("_interop/client_echo", { n: 9007199254740991, s: "ü\u2028", list: [null, true] }));
      await client.notify("_interop/client_note", { from: "agent" });
      await tell("extension missing", client.request("_interop/none", {}));
    },
    async ["Hello,"]() {
      await turns.permission();
      await turns.files();
    },
    async fail() {
      throw new RequestError(Number(args[0]), "failed as asked", { word: args[1] ?? null });
    },
  };
  if (!turns[word]) throw RequestError.invalidParams({ prompt: word }, "unknown word");
  await turns[word]();
  session.turn = null;
  return { stopReason: turn.signal.aborted ? "cancelled" : "end_turn", usage: { totalTokens: 3, inputTokens: 1, outputTokens: 2 }, _meta: { word } };
}
