// The checks of version 2 in which prompts overlap, and work ends early.
import assert from "node:assert/strict";

const { deepEqual, equal, ok } = assert;

export function* prompting(c) {
  const { agent, host } = c;
  const told = async (before, n) => c.until(async () => (await c.prompts()) >= before + n);
  const inserted = () => host.updates.filter((u) => u.sessionUpdate === "user_message").map((u) => u.content[0].text);

  yield ["cancel", async () => {
    await c.working();
    await c.cancel();
    await c.ended(1);
    equal(c.idles()[0].stopReason, "cancelled");
    deepEqual(c.texts(), ["waiting", "stopping"]);
  }];

  yield ["held prompts", async () => {
    const before = await c.prompts();
    await c.working();
    const [second, third] = [c.session.prompt("say b"), c.session.prompt("say c")];
    await told(before, 3);
    deepEqual(inserted(), ["wait"]);
    await c.finish();
    await Promise.all([second, third]);
    await c.ended(3);
    deepEqual(inserted(), ["wait", "say b", "say c"]);
    deepEqual(c.texts(), ["waiting", "stopping", "b", "c"]);
    deepEqual(c.idles().map((u) => u.stopReason), ["end_turn", "end_turn", "end_turn"]);
  }];

  yield ["held prompts cancelled", async () => {
    const before = await c.prompts();
    await c.working();
    const held = ["say b", "say c"].map((text) => c.code(-32800, c.session.prompt(text)));
    await told(before, 3);
    await c.cancel();
    await Promise.all(held);
    await c.ended(1);
    deepEqual([inserted(), c.idles()[0].stopReason], [["wait"], "cancelled"]);
  }];

  yield ["one held prompt cancelled", async () => {
    const before = await c.prompts();
    await c.working();
    const stop = new AbortController();
    const second = c.code(-32800, c.session.prompt("say b", { cancellationSignal: stop.signal }));
    await told(before, 2);
    const third = c.session.prompt("say c");
    await told(before, 3);
    stop.abort();
    await second;
    await c.finish();
    await third;
    await c.ended(2);
    deepEqual(inserted(), ["wait", "say c"]);
    deepEqual(c.idles().map((u) => u.stopReason), ["end_turn", "end_turn"]);
  }];

  yield ["a prompt right behind a cancel", async () => {
    await c.working();
    const cancelled = c.cancel();
    const behind = c.session.prompt("say after");
    await Promise.all([cancelled, behind]);
    await c.ended(2);
    deepEqual(c.idles().map((u) => u.stopReason), ["cancelled", "end_turn"]);
    equal(c.texts().at(-1), "after");
  }];

  yield ["a prompt that joins", async () => {
    await c.working();
    const { messageId } = await c.session.prompt("also x y");
    await c.finish();
    await c.ended(1);
    deepEqual(c.texts(), ["waiting", "x", "y", "stopping"]);
    equal(host.updates.filter((u) => u.sessionUpdate === "user_message")[1].messageId, messageId);
  }];

  yield ["background work", async () => {
    host.permission = "hold";
    const { end } = await c.turn("background");
    deepEqual(end.background.map((b) => b.type), ["tool_call", "terminal"]);
    const [{ toolCallId }, { terminalId }] = end.background;
    await host.until(() => host.saw("session/request_permission"));
    const asked = host.journal.find((e) => e.what === "session/request_permission").value;
    ok(c.session.isForBackgroundWork(asked), "the question is about background work");
    await c.cancel();
    const on = await c.turn("say on");
    equal(on.end.background.length, 2);
    ok(c.brief().every((state) => state !== "requires_action"), "background work does not block the session");
    ok(!host.saw("session/request_permission cancelled"), "the cancel is not about background work");

    ok(c.session.canCancelToolCall(toolCallId) && c.session.canCancelTerminal(terminalId));
    await c.session.cancelToolCall(toolCallId);
    await host.until(() => c.idles().at(-1).background.length === 1);
    await host.until(() => host.saw("session/request_permission cancelled"));
    const call = host.updates.findLast((u) => u.sessionUpdate === "tool_call_update");
    deepEqual([call.toolCallId, call.status], [toolCallId, "cancelled"]);
    await c.code(-32602, agent.request("tool_call/cancel", { sessionId: c.id, toolCallId }));
    await c.session.cancelTerminal(terminalId);
    await host.until(() => c.idles().at(-1).background.length === 0);
    deepEqual(host.updates.findLast((u) => u.sessionUpdate === "terminal_update").exitStatus, { signal: "SIGTERM" });
    await c.code(-32602, agent.request("terminal/cancel", { sessionId: c.id, terminalId }));
  }];

  yield ["cancel of an extension request", async () => {
    const stop = new AbortController();
    const call = agent.request("_interop/wait", {}, { cancellationSignal: stop.signal });
    await host.until(() => host.saw("_interop/waiting"));
    stop.abort();
    await c.code(-32800, call);
    await c.until(async () => (await c.journal()).some((e) => e.what === "_interop/wait cancelled"));
  }];

  yield ["extensions", async () => {
    const params = { n: 1, deep: [{ a: null }], text: "ü🙂" };
    deepEqual((await agent.request("_interop/echo", params)).params, params);
    await agent.notify("_interop/note", { from: "client" });
    await c.turn("extension");
    deepEqual(await c.told("extension"), { echo: { n: 9007199254740991, s: "ü\u2028", list: [null, true] } });
    equal((await c.told("extension missing")).error.code, -32601);
    deepEqual(host.journal, [{ what: "_interop/client_note", value: { from: "agent" } }]);
    deepEqual((await c.code(-32601, agent.request("_interop/nothing", {}))).data, { method: "_interop/nothing" });
    const error = await c.code(-31999, agent.request("_interop/fail", { code: -31999, message: "mine", data: [1] }));
    deepEqual([error.message, error.data], ["mine", [1]]);
  }];
}
