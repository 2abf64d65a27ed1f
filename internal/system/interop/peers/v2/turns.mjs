// The prompts of the agent of version 2: the first word says what to do.
import { readFileSync } from "node:fs";
import { RequestError } from "@agentclientprotocol/sdk/experimental/v2/unstable";
import { background, terminal } from "./work.mjs";

const updates = JSON.parse(readFileSync(new URL("updates.json", import.meta.url), "utf8"));
const text = (s) => ({ type: "text", text: s });

// Accepts a prompt: it becomes part of the conversation, the client gets the response, and the work goes on.
export async function accept({ params, signal, client }, store) {
  const session = store.get(params.sessionId);
  const [word, ...args] = params.prompt[0].text.split(" ");
  const words = turns({ session, client, args, note: (what, value) => store.note(what, value) });
  if (word === "fail") throw new RequestError(Number(args[0]), "failed as asked", { word: args[1] ?? null });
  if (word !== "also" && !words[word]) throw RequestError.invalidParams({ prompt: word }, "unknown word");
  const messageId = `${session.id}-user-${++session.messages}`;
  const echo = () => session.update({ sessionUpdate: "user_message", messageId, content: params.prompt });
  if (word === "also") { // joins the work in progress
    if (!session.turn) throw RequestError.invalidParams({ prompt: word }, "there is nothing to join");
    await echo();
    await words.say();
    return { messageId };
  }
  await session.admit(signal);
  const work = async () => {
    const end = await words[word]().catch((e) => ({ stopReason: "error", error: { code: e.code ?? -32603, message: e.message, data: e.data } }));
    const { aborted } = session.turn.abort.signal;
    await session.idle(aborted ? { stopReason: "cancelled" } : end ?? { stopReason: "end_turn", usage: { totalTokens: 3, inputTokens: 1, outputTokens: 2 } });
  };
  // The echo, the state and the response have no fixed order. These are the ones that agents in use have, and one more.
  const orders = {
    async usual() {
      await echo();
      await session.sendState();
      setImmediate(work);
    },
    async claude() {
      await echo();
      setImmediate(() => session.sendState().then(work));
    },
    async codex() {
      await session.sendState();
      for (const block of params.prompt) await session.update({ sessionUpdate: "user_message_chunk", messageId, content: block });
      setImmediate(work);
    },
    async late() {
      setImmediate(() => session.sendState().then(echo).then(work));
    },
  };
  await orders[word === "order" ? args.shift() : "usual"]();
  return { messageId };
}

function turns({ session, client, args, note }) {
  let messages = 0;
  const messageId = (kind) => `${session.id}-${kind}-${session.messages}-${++messages}`;
  const update = (sessionUpdate, more) => session.update({ sessionUpdate, ...more });
  const say = (words) => {
    const id = messageId("agent");
    return words.reduce((before, word) => before.then(() => update("agent_message_chunk", { messageId: id, content: text(word) })), Promise.resolve());
  };
  // Waits for the user: the state is requires_action meanwhile. What the client answers goes into the journal; errors too.
  const ask = async (label, method, params, options) => {
    const turn = session.turn;
    turn.asking++;
    await session.sendState();
    const answer = await client.request(method, { sessionId: session.id, ...params }, options)
      .catch((e) => ({ error: { code: e.code, message: e.message, data: e.data ?? null } }));
    note(`answer:${label}`, answer);
    turn.asking--;
    await session.sendState();
    return answer;
  };
  const options = ["allow_once", "allow_always", "reject_once", "reject_always", "_ask_later"].map((kind) => ({ optionId: `id-${kind}`, name: kind, kind }));
  const file = `${session.cwd}/a.txt`;
  const diff = { type: "diff", changes: [{ operation: "modify", path: file, fileType: "text" }],
    patch: { format: "git_patch", text: `diff --git ${file} ${file}\n--- ${file}\n+++ ${file}\n@@ -1 +1 @@\n-old\n+new\n` } };
  const subjects = {
    tool_call: { type: "tool_call", toolCall: { toolCallId: "call-1", title: "Edit a.txt", kind: "edit", status: "pending",
      content: [diff], locations: [{ path: file, line: 1 }], rawInput: { path: "a.txt" } } },
    command: { type: "command", command: "make all", cwd: session.cwd, toolCallId: "call-1" },
    other: { type: "_network", host: "example.com" },
    none: undefined,
  };
  const permission = async (subject = "tool_call", more) => {
    const { outcome, error } = await ask("permission", "session/request_permission",
      { title: "Edit a.txt?", description: "It changes one line.", subject: subjects[subject], options }, more);
    await say([error ? `error ${error.code}` : outcome.outcome === "selected" ? `selected ${outcome.optionId}` : outcome.outcome]);
  };
  const waits = () => Promise.race([session.turn.finished, session.turn.cancelled]);

  return {
    say: () => say(args),
    order: () => say(args),
    permission: () => permission(...args),
    async updates() {
      for (const u of updates) await session.update(u, { keep: false });
    },
    async messages() {
      const [thought, first, second] = [messageId("thought"), messageId("agent"), messageId("agent")];
      await update("agent_thought", { messageId: thought, content: [text("hmm")] });
      await update("agent_thought_chunk", { messageId: thought, content: text(", yes") });
      await update("agent_message", { messageId: first, content: [text("draft")] });
      await update("agent_message_chunk", { messageId: second, content: text("2a") });
      await update("agent_message_chunk", { messageId: first, content: text(" more") });
      await update("agent_message", { messageId: first, content: [text("final"), text(" text")] });
      await update("agent_message_chunk", { messageId: second, content: text("2b") });
      await update("agent_message_chunk", { messageId: first, content: text(".") });
      await update("agent_message", { messageId: second, _meta: { signed: true } }); // its content stays
    },
    async tool() {
      const call = (more) => update("tool_call_update", { toolCallId: "call-2", ...more });
      await call({ title: "Preparing", status: "pending" });
      await call({ title: "Edit a.txt", name: "edit", kind: "edit", rawInput: { path: "a.txt" }, locations: [{ path: file, line: 1 }] });
      await call({ status: "in_progress", content: [{ type: "content", content: text("reading") }] });
      await update("tool_call_content_chunk", { toolCallId: "call-2", content: { type: "content", content: text("writing") } });
      await update("tool_call_content_chunk", { toolCallId: "call-2", content: diff });
      await call({ status: "completed", title: null, rawOutput: { lines: 1 } });
    },
    plan() {
      const entry = (content, status) => ({ content, priority: "medium", status });
      return update("plan_update", { plan: { type: "items", planId: "plan-1", entries: [entry("look", "completed"), entry("act", "pending")] } });
    },
    terminal: () => terminal(session, update),
    background: () => background(session, update, (params, more) => client.request("session/request_permission", { sessionId: session.id, options, ...params }, more), note),
    // Says that it waits, ends by a cancel or by _interop/finish, and says a last word.
    async wait() {
      await say(["waiting"]);
      await waits();
      await say(["stopping"]);
    },
    // The question is open when the client cancels: it must be answered "cancelled".
    async ["wait-permission"]() {
      await Promise.all([permission(), session.turn.cancelled]);
    },
    // Takes its own question back with $/cancel_request, once the client has it.
    async takeback() {
      const stop = new AbortController();
      const answer = permission("none", { cancellationSignal: stop.signal });
      await client.request("_interop/client_echo", { after: "session/request_permission" });
      stop.abort();
      await answer;
    },
    async form() {
      await ask("form", "elicitation/create", { message: "Settings?", mode: "form", toolCallId: "call-1", requestedSchema: {
        type: "object", title: "Settings", required: ["name"], properties: {
          name: { type: "string", title: "Name", minLength: 1, maxLength: 20, default: "" },
          mail: { type: "string", format: "email" }, level: { type: "integer", minimum: 0, maximum: 9, default: 0 },
          share: { type: "number", minimum: 0, maximum: 1 }, web: { type: "boolean", default: false },
          size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }] },
          tags: { type: "array", minItems: 1, items: { type: "string", enum: ["a", "b", "c"] } } } } });
      await ask("form declined", "elicitation/create", { message: "Decline me", mode: "form", requestedSchema: { type: "object", properties: {} } });
      await ask("form postponed", "elicitation/create", { message: "Postpone me", mode: "form", requestedSchema: { type: "object", properties: {} } });
    },
    async url() {
      await ask("url", "elicitation/create", { message: "Open this", mode: "url", elicitationId: "el-1", url: "https://example.com/login" });
      await client.notify("elicitation/complete", { elicitationId: "el-1" });
      await say(["completed"]);
    },
    async extension() {
      note("answer:extension", await client.request("_interop/client_echo", { n: 9007199254740991, s: "ü\u2028", list: [null, true] }));
      await client.notify("_interop/client_note", { from: "agent" });
      note("answer:extension missing", await client.request("_interop/none", {}).catch((e) => ({ error: { code: e.code } })));
    },
    // Ends with the stop reason that the prompt names; an error has the code that follows.
    async stop() {
      const [stopReason, code] = args;
      if (stopReason === "none") return {};
      if (stopReason === "error") throw new RequestError(Number(code), "stopped as asked", { why: "asked" });
      return { stopReason };
    },
  };
}
