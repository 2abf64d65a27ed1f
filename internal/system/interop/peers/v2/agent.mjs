// An agent of version 2 on the TypeScript SDK that behaves as README.md says.
//   node v2/agent.mjs [--listen]
import { fileURLToPath } from "node:url";
import * as acp from "@agentclientprotocol/sdk/experimental/v2/unstable";
import { Store } from "./store.mjs";
import { accept } from "./turns.mjs";

const { RequestError } = acp;
const store = new Store();
const raw = (params) => params;
export const app = acp.agent({ name: "interop-ts-agent" });

const on = (method, handle) => app.onRequest(method, (ctx) => (store.note(ctx.method, ctx.params), handle(ctx)));
const onRaw = (method, handle) => app.onRequest(method, raw, (ctx) => (store.note(ctx.method, ctx.params), handle(ctx)));
const sender = (client) => (method, params) => client.notify(method, params);

// The SDK asks the handlers of a message one after the other, so a handler that is registered early runs early: this
// one has to see a cancel before the prompt behind it arrives.
app.onNotification("session/cancel", ({ params }) => {
  store.note("session/cancel", params);
  store.sessions.get(params.sessionId)?.cancel();
});

const mcp = { stdio: {}, http: {} };
on("initialize", ({ params }) => {
  store.client = params.capabilities ?? {};
  return {
    protocolVersion: 2,
    info: { name: "interop-ts-agent", title: "Interop", version: "2.0.0" },
    capabilities: {
      session: {
        prompt: { image: {}, audio: {}, embeddedContext: {} }, mcp, delete: {}, additionalDirectories: {},
        fork: {}, archive: {}, status: {}, title: {},
      },
      auth: { status: {} },
      providers: {},
    },
    authMethods: [
      { type: "agent", methodId: "token", name: "Token", description: "asks for a token" },
      { type: "terminal", methodId: "tty", name: "Terminal", args: ["login"], env: [{ name: "LOGIN", value: "1" }] },
      { type: "_passkey", methodId: "pk", name: "Passkey", party: "example.com" },
    ],
  };
});

on("auth/login", async ({ params, requestId, client }) => {
  if (params.methodId !== "token") throw RequestError.invalidParams({ methodId: params.methodId }, "unknown method");
  if (store.client.elicitation?.form) {
    // A question outside any session, while the client waits for our answer.
    const answer = await client.request("elicitation/create", {
      message: "Your token?", mode: "form", requestId,
      requestedSchema: { type: "object", properties: { token: { type: "string", minLength: 3 } }, required: ["token"] },
    });
    store.note("answer:auth/login", answer);
    if (answer.action !== "accept") throw RequestError.authRequired();
  }
  store.authenticated = true;
  await client.notify("auth/status_update", { state: "authenticated" });
});
on("auth/logout", () => {
  store.authenticated = false;
});
on("auth/status", () => ({
  state: store.authenticated ? "authenticated" : "unauthenticated",
  accounts: store.authenticated ? [{ label: "me", active: true, email: "me@example.com" }] : [],
}));

on("session/new", ({ params, client }) => {
  acp.assertSupportedMcpServers(params.mcpServers, mcp);
  if (params.cwd.endsWith("/locked") && !store.authenticated) throw RequestError.authRequired();
  const session = store.create(params.cwd, sender(client));
  setImmediate(() => session.update({ sessionUpdate: "available_commands_update", availableCommands: [
    { type: "command", name: "greet", description: "says hello" }, { type: "_macro", name: "twice", description: "twice", keys: "gg" } ] }, { keep: false }));
  return { sessionId: session.id, ...store.state(session) };
});
on("session/resume", async ({ params }) => {
  const session = store.get(params.sessionId);
  if (params.replayFrom && params.replayFrom.type !== "start") throw RequestError.invalidParams({ replayFrom: params.replayFrom.type });
  if (params.replayFrom) await session.replay();
  await session.sendState();
  return store.state(session);
});
on("session/list", ({ params }) => store.list(params));
on("session/close", ({ params }) => store.get(params.sessionId).close());
on("session/delete", ({ params }) => {
  store.sessions.delete(params.sessionId);
});
on("session/fork", ({ params, client }) => {
  const from = store.get(params.sessionId);
  const session = store.create(params.cwd, sender(client));
  session.history = [...from.history];
  return { sessionId: session.id, ...store.state(session) };
});
on("session/archive", ({ params }) => {
  store.get(params.sessionId).archived = true;
});
on("session/unarchive", ({ params }) => {
  store.get(params.sessionId).archived = false;
});
on("session/status", ({ params }) => {
  const session = store.get(params.sessionId);
  return session.archived ? { status: "saved" } : { status: "open", state: session.state };
});
on("session/set_title", ({ params }) => {
  const title = params.title.trim();
  if (title === "") throw RequestError.invalidParams(undefined, "empty title");
  return { title: (store.get(params.sessionId).title = title) };
});
on("session/set_config_option", ({ params }) => {
  const session = store.get(params.sessionId);
  if (!(params.configId in session.config)) throw RequestError.invalidParams({ configId: params.configId });
  session.config[params.configId] = params.value;
  return { configOptions: store.options(session) };
});
on("session/prompt", (ctx) => accept(ctx, store));
on("tool_call/cancel", ({ params }) => store.get(params.sessionId).cancelOne("toolCallId", params.toolCallId));
on("terminal/cancel", ({ params }) => store.get(params.sessionId).cancelOne("terminalId", params.terminalId));
on("providers/list", () => ({ providers: store.providers() }));
on("providers/set", ({ params }) => {
  store.provider = { apiType: params.apiType, baseUrl: params.baseUrl };
});
on("providers/disable", () => {
  store.provider = null;
});

onRaw("_interop/echo", ({ params, requestId }) => ({ params, requestId }));
onRaw("_interop/journal", () => store.journal);
onRaw("_interop/fail", ({ params }) => {
  throw new RequestError(params.code, params.message, params.data);
});
// Ends with the cancel error that the SDK makes when the signal of $/cancel_request fires.
onRaw("_interop/wait", ({ signal, client }) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => (store.note("_interop/wait cancelled"), reject(signal.reason)));
    client.notify("_interop/waiting", { since: "now" });
  }),
);
app.onNotification("_interop/note", raw, ({ params }) => store.note("_interop/note", params));
app.onNotification("_interop/finish", raw, ({ params }) => store.get(params.sessionId).turn?.finish());

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { serve } = await import("../listen.mjs");
  await serve(app);
}
