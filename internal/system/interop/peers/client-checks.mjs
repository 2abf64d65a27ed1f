// The conversation the client holds, one named check after the other.
import assert from "node:assert/strict";

const { deepEqual, equal, ok } = assert;

export function* conversation({ agent, host, cwd, wanted }) {
  const state = { id: null };
  const code = (wantedCode, call) => call.then(
    () => assert.fail(`no error, wanted ${wantedCode}`),
    (error) => (equal(error.code, wantedCode, error.message), error));
  const prompt = (text, options) => agent.request("session/prompt", { sessionId: state.id, prompt: [{ type: "text", text }] }, options);
  const texts = () => host.updates.map((u) => u.update.content?.text).filter((t) => t !== undefined);
  const kinds = () => host.updates.map((u) => u.update.sessionUpdate);
  const told = async (label) => {
    const journal = await agent.request("_interop/journal", {});
    const entries = journal.filter((e) => e.what === `answer:${label}`);
    ok(entries.length > 0, `the agent has no answer to ${label}`);
    return entries.at(-1).value;
  };

  yield ["before initialize", () => code(-32600, agent.request("session/new", { cwd, mcpServers: [] }))];

  yield ["initialize", async () => {
    const answer = await agent.request("initialize", {
      protocolVersion: 1, clientInfo: { name: "interop-ts-client", version: "1.0.0" },
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true }, terminal: true, elicitation: { form: {}, url: {} }, auth: { terminal: true },
        session: { notices: {}, compaction: {}, configOptions: { boolean: {} } }, plan: {}, subagents: {},
      },
    });
    equal(answer.protocolVersion, 1);
    equal(answer.agentCapabilities.loadSession, true);
    const newer = ["options"]; // than the SDK
    deepEqual(Object.keys(answer.agentCapabilities.sessionCapabilities).filter((c) => !newer.includes(c)).sort(),
      ["additionalDirectories", "archive", "close", "delete", "fork", "list", "resume", "status", "title"]);
    deepEqual(answer.agentCapabilities.promptCapabilities, { image: true, audio: true, embeddedContext: true });
    deepEqual(answer.authMethods.map((m) => [m.id, m.type]), [["token", undefined], ["tty", "terminal"]]);
    deepEqual(answer.authMethods[1].args, ["login"]);
  }];

  yield ["authenticate and logout", async () => {
    await code(-32000, agent.request("session/new", { cwd: `${cwd}/locked`, mcpServers: [] }));
    await code(-32602, agent.request("authenticate", { methodId: "nope" }));
    equal((await agent.request("auth/status", {})).state, "unauthenticated");
    deepEqual(await agent.request("authenticate", { methodId: "token" }), {});
    const asked = host.journal.find((e) => e.what === "elicitation/create").value;
    ok("requestId" in asked && !("sessionId" in asked), "the question belongs to the request");
    deepEqual(await told("authenticate"), { action: "accept", content: { token: "s3cret" } });
    const status = await agent.request("auth/status", {});
    equal(status.state, "authenticated");
    equal(status.accounts[0].email, "me@example.com");
    ok((await agent.request("session/new", { cwd: `${cwd}/locked`, mcpServers: [] })).sessionId);
    deepEqual(await agent.request("logout", {}), {});
    await code(-32000, agent.request("session/new", { cwd: `${cwd}/locked`, mcpServers: [] }));
  }];

  yield ["session/new", async () => {
    await code(-32602, agent.request("session/new", { mcpServers: [] }));
    const session = await agent.request("session/new", { cwd, additionalDirectories: ["/tmp"], mcpServers: [
      { name: "tools", command: "/bin/true", args: ["-x"], env: [{ name: "A", value: "1" }] },
      { type: "http", name: "web", url: "https://example.com/mcp", headers: [{ name: "X", value: "y" }] },
      { type: "sse", name: "old", url: "https://example.com/sse", headers: [] } ] });
    state.id = session.sessionId;
    equal(session.modes.currentModeId, "ask");
    deepEqual(session.configOptions.map((o) => [o.id, o.type, o.currentValue]),
      [["model", "select", "small"], ["effort", "select", "low"], ["web", "boolean", false]]);
    equal(session.configOptions[1].options[0].options[1].value, "high");
    await host.until(() => kinds().includes("available_commands_update"));
  }];

  yield ["prompt", async () => {
    const answer = await prompt("say one two three");
    deepEqual(answer, { stopReason: "end_turn", usage: { totalTokens: 3, inputTokens: 1, outputTokens: 2 }, _meta: { word: "say" } });
    deepEqual(texts(), ["one", "two", "three"]);
  }];

  yield ["prompt with every content block", async () => {
    await agent.request("session/prompt", { sessionId: state.id, prompt: [
      { type: "text", text: "say hi" }, { type: "image", data: "aGk=", mimeType: "image/png" }, { type: "audio", data: "aGk=", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a" }, { type: "resource", resource: { uri: "file:///a", text: "t" } } ] });
    const sent = (await agent.request("_interop/journal", {})).filter((e) => e.what === "session/prompt").at(-1).value;
    deepEqual(sent.prompt.map((b) => b.type), ["text", "image", "audio", "resource_link", "resource"]);
  }];

  yield ["every update", async () => {
    await prompt("updates");
    deepEqual(host.updates.map((u) => u.update), wanted);
  }];

  for (const kind of ["allow_once", "allow_always", "reject_once", "reject_always"]) {
    yield [`permission ${kind}`, async () => {
      host.permission = kind;
      await prompt("permission");
      equal(texts().at(-1), `selected id-${kind}`);
      const { toolCall } = host.journal[0].value;
      deepEqual([toolCall.toolCallId, toolCall.kind, toolCall.locations[0].line], ["call-1", "edit", 1]);
      equal(toolCall.content[0].newText, "new\n");
    }];
  }

  yield ["permission cancelled", async () => {
    host.permission = "hold";
    const turn = prompt("wait-permission");
    await host.until(() => host.journal.length > 0 && host.held);
    await agent.notify("session/cancel", { sessionId: state.id });
    host.held();
    equal((await turn).stopReason, "cancelled");
    deepEqual(await told("permission"), { outcome: { outcome: "cancelled" } });
    equal(texts().at(-1), "cancelled");
  }];

  yield ["files", async () => {
    await prompt("files");
    deepEqual(host.journal.map((e) => e.what), ["fs/write_text_file", "fs/read_text_file", "fs/read_text_file", "fs/read_text_file"]);
    deepEqual(await told("write"), {});
    deepEqual(await told("read"), { content: "one\ntwo\nthree\nfour\n" });
    deepEqual(await told("read lines"), { content: "two\nthree" });
    const { error } = await told("read missing");
    deepEqual([error.code, error.data], [-32002, { uri: `${cwd}/missing.txt` }]);
  }];

  yield ["terminals", async () => {
    await prompt("terminal");
    equal((await told("terminal wait")).exitCode, 3);
    const output = await told("terminal output");
    deepEqual([output.output, output.truncated, output.exitStatus.exitCode], [`hello in ${cwd}`, false, 3]);
    const killed = await told("terminal wait killed");
    equal(killed.signal, "SIGKILL");
    equal((await told("terminal gone")).error.code, -32002);
    equal(host.terminals.size, 0);
    equal(host.journal[0].value.outputByteLimit, 1000);
  }];

  yield ["elicitation form", async () => {
    await prompt("form");
    deepEqual(await told("form"), { action: "accept", content: { name: "Ann", level: 3, share: 0.5, web: true, tags: ["a", "b"] } });
    deepEqual(await told("form declined"), { action: "decline" });
    const { requestedSchema, toolCallId, sessionId } = host.journal[0].value;
    deepEqual([toolCallId, sessionId, requestedSchema.required], ["call-1", state.id, ["name"]]);
    deepEqual(requestedSchema.properties.tags, { type: "array", minItems: 1, items: { type: "string", enum: ["a", "b", "c"] } });
    deepEqual(requestedSchema.properties.size.oneOf[1], { const: "l", title: "Large" });
    deepEqual([requestedSchema.properties.level.default, requestedSchema.properties.web.default, requestedSchema.properties.name.default], [0, false, ""]);
  }];

  yield ["elicitation url", async () => {
    await prompt("url");
    deepEqual(await told("url"), { action: "accept" });
    for (let i = 0; i < 500 && host.journal.length < 2; i++) { // over HTTP the two may use different streams
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    deepEqual(host.journal.map((e) => e.what), ["elicitation/create", "elicitation/complete"]);
    deepEqual(host.journal[1].value, { elicitationId: "el-1" });
  }];

  for (const how of ["session/cancel", "$/cancel_request"]) {
    yield [`cancel with ${how}`, async () => {
      const stop = new AbortController();
      const turn = prompt("wait", { cancellationSignal: stop.signal });
      await host.until(() => texts().includes("waiting"));
      if (how === "session/cancel") await agent.notify(how, { sessionId: state.id });
      else stop.abort();
      equal((await turn).stopReason, "cancelled");
      deepEqual(texts(), ["waiting", "stopping"]);
    }];
  }

  yield ["cancel of an extension request", async () => {
    const stop = new AbortController();
    const call = agent.request("_interop/wait", {}, { cancellationSignal: stop.signal });
    await host.until(() => host.journal.some((e) => e.what === "_interop/waiting"));
    stop.abort();
    await code(-32800, call);
  }];

  yield ["the agent takes a question back", async () => {
    await prompt("takeback");
    equal((await told("takeback")).error.code, -32800);
    await host.until(() => host.journal.some((e) => e.what === "_interop/client_wait cancelled"));
  }];

  yield ["modes and options", async () => {
    deepEqual(await agent.request("session/set_mode", { sessionId: state.id, modeId: "code" }), {});
    deepEqual(host.updates.at(-1).update, { sessionUpdate: "current_mode_update", currentModeId: "code" });
    await code(-32602, agent.request("session/set_mode", { sessionId: state.id, modeId: "fly" }));
    const values = (answer) => answer.configOptions.map((o) => o.currentValue);
    deepEqual(values(await agent.request("session/set_config_option", { sessionId: state.id, configId: "model", value: "big" })), ["big", "low", false]);
    deepEqual(values(await agent.request("session/set_config_option", { sessionId: state.id, configId: "web", type: "boolean", value: true })), ["big", "low", true]);
    await code(-32602, agent.request("session/set_config_option", { sessionId: state.id, configId: "none", value: "x" }));
  }];

  yield ["extensions", async () => {
    const params = { n: 1, deep: [{ a: null }], text: "ü🙂" };
    const echo = await agent.request("_interop/echo", params);
    deepEqual(echo.params, params);
    await agent.notify("_interop/note", { from: "client" });
    await prompt("extension");
    deepEqual(await told("extension"), { echo: { n: 9007199254740991, s: "ü\u2028", list: [null, true] } });
    equal((await told("extension missing")).error.code, -32601);
    deepEqual(host.journal, [{ what: "_interop/client_note", value: { from: "agent" } }]);
    const { data } = await code(-32601, agent.request("_interop/nothing", {}));
    deepEqual(data, { method: "_interop/nothing" });
    const error = await code(-31999, agent.request("_interop/fail", { code: -31999, message: "mine", data: [1] }));
    deepEqual([error.message, error.data], ["mine", [1]]);
  }];

  yield ["an error out of a turn", async () => {
    const error = await code(-32000, prompt("fail -32000 login"));
    deepEqual([error.message, error.data], ["failed as asked", { word: "login" }]);
  }];

  yield ["load with replay, and resume", async () => {
    const fresh = await agent.request("session/new", { cwd, mcpServers: [] });
    state.id = fresh.sessionId;
    await prompt("say a b");
    host.updates.length = 0;
    const loaded = await agent.request("session/load", { sessionId: state.id, cwd, mcpServers: [] });
    deepEqual(kinds().filter((k) => k !== "available_commands_update"), ["user_message_chunk", "agent_message_chunk", "agent_message_chunk"]);
    deepEqual(texts(), ["say a b", "a", "b"]);
    equal(loaded.modes.currentModeId, "ask");
    host.updates.length = 0;
    const resumed = await agent.request("session/resume", { sessionId: state.id, cwd });
    equal(resumed.configOptions.length, 3);
    deepEqual(texts(), []);
    const { data } = await code(-32002, agent.request("session/load", { sessionId: "nope", cwd, mcpServers: [] }));
    equal(data.sessionId, "nope");
  }];

  yield ["list, close, delete", async () => {
    const seen = [];
    for (let cursor; ; ) {
      const page = await agent.request("session/list", cursor === undefined ? {} : { cursor });
      seen.push(...page.sessions.map((s) => s.sessionId));
      if (page.nextCursor == null) break;
      cursor = page.nextCursor;
    }
    deepEqual(seen, ["session-1", "session-2", "session-3"]);
    deepEqual((await agent.request("session/list", { cwd: `${cwd}/locked` })).sessions.map((s) => s.sessionId), ["session-1"]);
    await code(-32602, agent.request("session/list", { cursor: "bad" }));
    const turn = prompt("wait");
    await host.until(() => texts().includes("waiting"));
    deepEqual(await agent.request("session/close", { sessionId: state.id }), {});
    equal((await turn).stopReason, "cancelled");
    deepEqual(await agent.request("session/delete", { sessionId: "session-1" }), {});
    deepEqual(await agent.request("session/delete", { sessionId: "session-1" }), {});
    deepEqual((await agent.request("session/list", {})).sessions.map((s) => s.sessionId), ["session-2", "session-3"]);
  }];

  yield ["unstable methods", async () => {
    const sessionId = state.id;
    const fork = await agent.request("session/fork", { sessionId, cwd, mcpServers: [] });
    ok(fork.sessionId !== sessionId);
    deepEqual(await agent.request("session/set_title", { sessionId, title: "  Mine " }), { title: "Mine" });
    deepEqual(await agent.request("session/archive", { sessionId }), {});
    deepEqual(await agent.request("session/status", { sessionId }), { status: "saved" });
    deepEqual(await agent.request("session/unarchive", { sessionId }), {});
    deepEqual(await agent.request("session/status", { sessionId }), { status: "open" });
    const provider = () => agent.request("providers/list", {}).then((r) => r.providers[0].current ?? null);
    equal(await provider(), null);
    deepEqual(await agent.request("providers/set", { providerId: "main", apiType: "openai", baseUrl: "https://example.com/v1" }), {});
    deepEqual(await provider(), { apiType: "openai", baseUrl: "https://example.com/v1" });
    deepEqual(await agent.request("providers/disable", { providerId: "main" }), {});
    equal(await provider(), null);
  }];
}
