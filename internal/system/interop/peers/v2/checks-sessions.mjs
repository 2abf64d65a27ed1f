// The checks of version 2 that are about sessions and their settings.
import assert from "node:assert/strict";

const { deepEqual, equal } = assert;

export function* sessions(c) {
  const { agent, host, cwd } = c;

  yield ["options", async () => {
    const values = (answer) => answer.configOptions.map((o) => o.currentValue);
    deepEqual(values(await c.session.setConfigOption({ configId: "model", type: "id", value: "big" })), ["big", "low", false, "#fff"]);
    deepEqual(values(await c.session.setConfigOption({ configId: "web", type: "boolean", value: true })), ["big", "low", true, "#fff"]);
    deepEqual(values(await c.session.setConfigOption({ configId: "colour", type: "_colour", value: "#000" })), ["big", "low", true, "#000"]);
    await c.code(-32602, c.session.setConfigOption({ configId: "none", type: "id", value: "x" }));
    await c.code(-32602, agent.request("session/set_config_option", { sessionId: c.id, configId: "model", value: "small" }));
  }];

  yield ["resume", async () => {
    const old = c.session;
    c.session = await agent.buildSession(cwd).start();
    await host.until(() => c.kinds().includes("available_commands_update"));
    await c.turn("say a b");
    host.reset();
    const resume = (more) => agent.request("session/resume", { sessionId: c.id, cwd, ...more });
    const answer = await resume({ replayFrom: { type: "start" } });
    equal(answer.configOptions.length, 4);
    await c.ended(1);
    // The SDK is older than replay_complete.
    deepEqual(c.brief().filter((u) => u !== "replay_complete"), ["user_message", "user_message_chunk", "agent_message_chunk", "agent_message_chunk", "idle"]);
    deepEqual([host.updates[0].content, host.updates[1].content.text, ...c.texts()], [[], "say a b", "a", "b"]);
    host.reset();
    await resume();
    await c.ended(1);
    deepEqual(c.brief(), ["idle"]);
    host.reset();
    await c.working();
    await resume();
    await host.until(() => c.brief().filter((state) => state === "running").length === 2);
    await c.finish();
    await c.ended(1);
    await c.code(-32602, resume({ replayFrom: { type: "_tail", n: 2 } }));
    deepEqual((await c.code(-32002, resume({ sessionId: "nope" }))).data, { sessionId: "nope" });
    c.session = old;
  }];

  const list = async (params) => {
    const ids = [];
    for (let cursor; ;) {
      const page = await agent.request("session/list", { ...params, ...(cursor == null ? {} : { cursor }) });
      ids.push(...page.sessions.map((s) => s.sessionId));
      cursor = page.nextCursor;
      if (cursor == null) return ids;
    }
  };

  yield ["list", async () => {
    equal((await agent.request("session/list", {})).nextCursor, "");
    deepEqual(await list({}), ["session-1", "session-2", "session-3"]);
    deepEqual(await list({ cwd: `${cwd}/locked` }), ["session-1"]);
    await c.code(-32602, agent.request("session/list", { cursor: "bad" }));
  }];

  yield ["close", async () => {
    host.permission = "hold";
    await c.turn("background");
    await c.working();
    const before = await c.prompts();
    const held = c.code(-32800, c.session.prompt("say b"));
    await c.until(async () => (await c.prompts()) > before);
    const { sessionId } = c.session;
    await agent.request("session/close", { sessionId });
    await held;
    await host.until(() => c.idles().at(-1)?.background.length === 0);
    equal(c.idles()[1].stopReason, "cancelled");
    equal(host.updates.findLast((u) => u.sessionUpdate === "tool_call_update").status, "cancelled");
    deepEqual(host.updates.findLast((u) => u.sessionUpdate === "terminal_update").exitStatus, { signal: "SIGTERM" });
    const { length } = host.updates;
    await agent.request("_interop/journal", {});
    equal(host.updates.length, length, "nothing follows the response");
  }];

  yield ["delete", async () => {
    for (let i = 0; i < 2; i++) await agent.request("session/delete", { sessionId: "session-1" });
    deepEqual(await list({}), ["session-2", "session-3"]);
  }];

  yield ["unstable methods", async () => {
    const sessionId = "session-3";
    const fork = await agent.request("session/fork", { sessionId, cwd });
    assert.notEqual(fork.sessionId, sessionId);
    deepEqual(await agent.request("session/set_title", { sessionId, title: "  Mine " }), { title: "Mine" });
    const status = () => agent.request("session/status", { sessionId });
    await agent.request("session/archive", { sessionId });
    equal((await status()).status, "saved");
    await agent.request("session/unarchive", { sessionId });
    const open = await status();
    deepEqual([open.status, open.state.state], ["open", "idle"]);
    const current = async () => (await agent.request("providers/list", {})).providers[0].current ?? null;
    equal(await current(), null);
    await agent.request("providers/set", { providerId: "main", apiType: "openai", baseUrl: "https://example.com/v1" });
    deepEqual(await current(), { apiType: "openai", baseUrl: "https://example.com/v1" });
    await agent.request("providers/disable", { providerId: "main" });
    equal(await current(), null);
  }];
}
