// An agent on the TypeScript SDK that behaves as README.md says.
import { fileURLToPath } from "node:url";
import * as acp from "@agentclientprotocol/sdk/unstable";
import { Store } from "./agent-store.mjs";
import { runTurn } from "./agent-turns.mjs";

const { RequestError, methods } = acp;
const store = new Store();
const raw = (params) => params;

// Every handler is entered through here, so the journal shows what the SDK handed over.
const on = (method, handle) =>
  app.onRequest(method, (ctx) => (store.note(ctx.method, ctx.params), handle(ctx)));
const onRaw = (method, handle) =>
  app.onRequest(method, raw, (ctx) => (store.note(ctx.method, ctx.params), handle(ctx)));

export const app = acp.agent({ name: "interop-ts-agent" });

on("initialize", ({ params }) => {
  store.client = params.clientCapabilities ?? {};
  return {
    protocolVersion: 1,
    agentInfo: { name: "interop-ts-agent", title: "Interop", version: "1.0.0" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {},
        fork: {}, archive: {}, status: {}, title: {},
      },
      auth: { logout: {}, status: {} },
      providers: {},
    },
    authMethods: [
      { id: "token", name: "Token", description: "asks for a token" },
      { type: "terminal", id: "tty", name: "Terminal", args: ["login"], env: { LOGIN: "1" } },
    ],
  };
});

on("authenticate", async ({ params, requestId, client }) => {
  if (params.methodId !== "token") {
    throw RequestError.invalidParams({ methodId: params.methodId }, "unknown method");
  }
  if (store.client.elicitation?.form) {
    // A question outside any session, while the client waits for our answer.
    const answer = await client.request(methods.client.elicitation.create, {
      message: "Your token?", mode: "form", requestId,
      requestedSchema: { type: "object", properties: { token: { type: "string", minLength: 3 } }, required: ["token"] },
    });
    store.note("answer:authenticate", answer);
    if (answer.action !== "accept") throw RequestError.authRequired();
  }
  store.authenticated = true;
});

on("logout", () => {
  store.authenticated = false;
});

on("auth/status", () => ({
  state: store.authenticated ? "authenticated" : "unauthenticated",
  accounts: store.authenticated ? [{ label: "me", active: true, email: "me@example.com" }] : [],
}));

on("session/new", ({ params, client }) => {
  if (params.cwd.endsWith("/locked") && !store.authenticated) throw RequestError.authRequired();
  const session = store.create(params.cwd);
  setImmediate(() => client.notify("session/update", store.greeting(session)));
  return { sessionId: session.id, ...store.state(session) };
});

on("session/load", async ({ params, client }) => {
  const session = store.get(params.sessionId);
  for (const update of session.history) {
    await client.notify("session/update", { sessionId: session.id, update });
  }
  return store.state(session);
});

on("session/resume", ({ params }) => store.state(store.get(params.sessionId)));
on("session/list", ({ params }) => store.list(params));
on("session/close", ({ params }) => {
  store.get(params.sessionId).turn?.abort();
});
on("session/delete", ({ params }) => {
  store.sessions.delete(params.sessionId);
});
on("session/fork", ({ params }) => {
  const from = store.get(params.sessionId);
  const session = store.create(params.cwd);
  session.history = [...from.history];
  return { sessionId: session.id, ...store.state(session) };
});
on("session/archive", ({ params }) => {
  store.get(params.sessionId).archived = true;
});
on("session/unarchive", ({ params }) => {
  store.get(params.sessionId).archived = false;
});
on("session/status", ({ params }) => ({ status: store.get(params.sessionId).archived ? "saved" : "open" }));
on("session/set_title", ({ params }) => {
  const title = params.title.trim();
  if (title === "") throw RequestError.invalidParams(undefined, "empty title");
  return { title: (store.get(params.sessionId).title = title) };
});

on("session/set_mode", async ({ params, client }) => {
  const session = store.get(params.sessionId);
  if (!["ask", "code"].includes(params.modeId)) throw RequestError.invalidParams({ modeId: params.modeId });
  session.mode = params.modeId;
  await client.notify("session/update", {
    sessionId: session.id, update: { sessionUpdate: "current_mode_update", currentModeId: session.mode },
  });
});

on("session/set_config_option", ({ params }) => {
  const session = store.get(params.sessionId);
  if (!(params.configId in session.config)) throw RequestError.invalidParams({ configId: params.configId });
  session.config[params.configId] = params.value;
  return { configOptions: store.options(session) };
});

on("providers/list", () => ({ providers: store.providers() }));
on("providers/set", ({ params }) => {
  store.provider = { apiType: params.apiType, baseUrl: params.baseUrl };
});
on("providers/disable", () => {
  store.provider = null;
});

on("session/prompt", (ctx) => runTurn(ctx, store));
app.onNotification("session/cancel", ({ params }) => {
  store.note("session/cancel", params);
  store.sessions.get(params.sessionId)?.turn?.abort();
});

onRaw("_interop/echo", ({ params, requestId }) => ({ params, requestId }));
onRaw("_interop/journal", () => store.journal);
onRaw("_interop/fail", ({ params }) => {
  throw new RequestError(params.code, params.message, params.data);
});
// Ends with the cancel error the SDK makes when the signal of $/cancel_request fires.
onRaw("_interop/wait", ({ signal, client }) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => (store.note("_interop/wait cancelled"), reject(signal.reason)));
    client.notify("_interop/waiting", { since: "now" });
  }),
);
app.onNotification("_interop/note", raw, ({ params }) => store.note("_interop/note", params));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { serve } = await import("./listen.mjs");
  await serve(app);
}
