// The conversation that the client of version 2 holds, one named check after the other.
import assert from "node:assert/strict";
import { check } from "./tools.mjs";
import { asking } from "./checks-asks.mjs";
import { prompting } from "./checks-prompts.mjs";
import { sessions } from "./checks-sessions.mjs";

const { deepEqual, equal, ok } = assert;

export function* conversation({ agent, host, cwd, wanted }) {
  const c = check({ agent, host, cwd });

  yield ["initialize", async () => {
    const answer = await agent.request("initialize", {
      protocolVersion: 2, info: { name: "interop-ts-client", version: "1.0.0" },
      capabilities: { elicitation: { form: {}, url: {} }, auth: { terminal: {} } },
    });
    equal(answer.protocolVersion, 2);
    equal(answer.info.title, "Interop");
    const { session, auth, providers } = answer.capabilities;
    deepEqual(session.prompt, { image: {}, audio: {}, embeddedContext: {} });
    deepEqual(session.mcp, { stdio: {}, http: {} });
    for (const bit of ["delete", "additionalDirectories", "fork", "archive", "status", "title"]) deepEqual(session[bit], {}, bit);
    deepEqual([auth.status, providers], [{}, {}]);
    deepEqual(answer.authMethods.map((m) => [m.methodId, m.type]), [["token", "agent"], ["tty", "terminal"], ["pk", "_passkey"]]);
    deepEqual(answer.authMethods[1].env, [{ name: "LOGIN", value: "1" }]);
    equal(answer.authMethods[2].party, "example.com");
  }];

  // It may be repeated before any other request.
  yield ["initialize again", async () => {
    const answer = await agent.request("initialize", {
      protocolVersion: 3, info: { name: "interop-ts-client", version: "1.0.1" }, capabilities: { elicitation: { form: {}, url: {} } },
    });
    equal(answer.protocolVersion, 2);
  }];

  yield ["login and logout", async () => {
    const locked = { cwd: `${cwd}/locked` };
    await c.code(-32000, agent.request("session/new", locked));
    await c.code(-32602, agent.request("auth/login", { methodId: "nope" }));
    equal((await agent.request("auth/status", {})).state, "unauthenticated");
    deepEqual(await agent.request("auth/login", { methodId: "token" }), {});
    const asked = host.journal.find((e) => e.what === "elicitation/create").value;
    ok("requestId" in asked && !("sessionId" in asked), "the question belongs to the request");
    await host.until(() => host.saw("auth/status_update"));
    deepEqual(await c.told("auth/login"), { action: "accept", content: { token: "s3cret" } });
    equal((await agent.request("auth/status", {})).accounts[0].email, "me@example.com");
    ok((await agent.request("session/new", locked)).sessionId);
    deepEqual(await agent.request("auth/logout", {}), {});
    await c.code(-32000, agent.request("session/new", locked));
  }];

  yield ["session/new", async () => {
    await c.code(-32602, agent.request("session/new", { mcpServers: [] }));
    await c.code(-32602, agent.request("session/new", { cwd, mcpServers: [{ type: "_pigeon", name: "coo" }] }));
    const session = await agent.buildSession({ cwd, additionalDirectories: ["/tmp"], mcpServers: [
      { type: "stdio", name: "tools", command: "/bin/true", args: ["-x"], env: [{ name: "A", value: "1" }] },
      { type: "http", name: "web", url: "https://example.com/mcp", headers: [{ name: "X", value: "y" }] } ] }).start();
    c.session = session;
    deepEqual(session.configOptions.map((o) => [o.configId, o.type, o.currentValue]),
      [["model", "select", "small"], ["effort", "select", "low"], ["web", "boolean", false], ["colour", "_colour", "#fff"]]);
    equal(session.configOptions[1].options[0].options[1].value, "high");
    equal(session.newSessionResponse.availableCommands[0].name, "greet");
    await host.until(() => c.kinds().includes("available_commands_update"));
    const sent = (await c.journal()).filter((e) => e.what === "session/new").at(-1).value;
    deepEqual(sent.mcpServers.map((s) => s.type), ["stdio", "http"]);
  }];

  yield ["prompt", async () => {
    const { messageId, end } = await c.turn("say one two three");
    equal(end.stopReason, "end_turn");
    deepEqual(c.brief(), ["user_message", "running", "agent_message_chunk", "agent_message_chunk", "agent_message_chunk", "idle"]);
    equal(host.updates[0].messageId, messageId);
    deepEqual(c.texts(), ["one", "two", "three"]);
    equal(new Set(host.updates.filter((u) => u.sessionUpdate === "agent_message_chunk").map((u) => u.messageId)).size, 1);
  }];

  yield ["prompt with every content block", async () => {
    const prompt = [
      { type: "text", text: "say hi" }, { type: "image", data: "aGk=", mimeType: "image/png" }, { type: "audio", data: "aGk=", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a" }, { type: "resource", resource: { uri: "file:///a", text: "t" } },
      { type: "_sticker", id: 7 } ];
    await c.turn(prompt);
    const sent = (await c.journal()).filter((e) => e.what === "session/prompt").at(-1).value;
    deepEqual(sent.prompt, prompt);
    deepEqual(host.updates[0].content, prompt);
    await c.code(-32602, agent.request("session/prompt", { sessionId: c.id, prompt: [] }));
  }];

  yield ["every update", async () => {
    await c.turn("updates");
    deepEqual(host.updates.slice(2, -1), wanted);
  }];

  yield ["messages", async () => {
    await c.drain();
    await c.session.prompt("messages");
    equal(await c.session.readTextUntilIdle(), "final text.2a2b");
  }];

  yield ["tool call, plan and terminal", async () => {
    await c.turn("tool");
    const calls = host.updates.slice(2, -1);
    deepEqual(calls.map((u) => u.status ?? u.content?.type ?? u.name), ["pending", "edit", "in_progress", "content", "diff", "completed"]);
    deepEqual(calls[1].locations, [{ path: `${cwd}/a.txt`, line: 1 }]);
    deepEqual(calls[4].content.changes.map((x) => [x.operation, x.path]), [["modify", `${cwd}/a.txt`]]);
    equal(calls[4].content.patch.format, "git_patch");
    ok(calls[4].content.patch.text.includes("-old\n+new\n"), calls[4].content.patch.text);
    deepEqual([calls[5].title, calls[5].rawOutput], [null, { lines: 1 }]);
    host.reset();
    await c.turn("plan");
    deepEqual(host.updates[2].plan.entries.map((e) => [e.content, e.status]), [["look", "completed"], ["act", "pending"]]);
    host.reset();
    await c.turn("terminal");
    const of = (kind) => host.updates.filter((u) => u.sessionUpdate === kind);
    deepEqual([of("terminal_update")[0].command, of("terminal_update")[0].size], ["make", { cols: 80, rows: 24 }]);
    equal(Buffer.concat(of("terminal_output_chunk").map((u) => Buffer.from(u.data, "base64"))).toString(), "built ü\n");
    deepEqual(of("terminal_update")[1].exitStatus, { exitCode: 0 });
  }];

  yield ["stop reasons", async () => {
    for (const reason of ["max_tokens", "max_turn_requests", "refusal", "_bored"]) equal((await c.turn(`stop ${reason}`)).end.stopReason, reason);
    const { end } = await c.turn("stop error -32000");
    deepEqual([end.stopReason, end.error], ["error", { code: -32000, message: "stopped as asked", data: { why: "asked" } }]);
  }];

  yield ["a prompt that fails", async () => {
    const error = await c.code(-32000, c.session.prompt("fail -32000 login"));
    deepEqual([error.message, error.data], ["failed as asked", { word: "login" }]);
    await c.code(-32602, c.session.prompt("nonsense"));
    const unknown = await c.code(-32002, agent.request("session/prompt", { sessionId: "nope", prompt: [{ type: "text", text: "say x" }] }));
    deepEqual(unknown.data, { sessionId: "nope" });
  }];

  yield* asking(c);
  yield* prompting(c);
  yield* sessions(c);
}
