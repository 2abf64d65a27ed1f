// What the agent remembers: sessions, settings, and a journal of all it was told.
import { RequestError } from "@agentclientprotocol/sdk/unstable";

export class Store {
  client = {};
  authenticated = false;
  provider = null;
  made = 0;
  journal = [];
  sessions = new Map();

  note(what, value) {
    this.journal.push({ what, value: value ?? null });
  }

  create(cwd) {
    const session = {
      id: `session-${++this.made}`, cwd, title: null, mode: "ask", archived: false,
      config: { model: "small", effort: "low", web: false }, history: [], turn: null,
    };
    this.sessions.set(session.id, session);
    return session;
  }

  get(id) {
    const session = this.sessions.get(id);
    if (!session) throw RequestError.sessionNotFound(id);
    return session;
  }

  greeting(session) {
    return {
      sessionId: session.id,
      update: { sessionUpdate: "available_commands_update", availableCommands: [{ name: "greet", description: "says hello" }] },
    };
  }

  state(session) {
    return {
      modes: {
        currentModeId: session.mode,
        availableModes: [{ id: "ask", name: "Ask", description: "asks first" }, { id: "code", name: "Code" }],
      },
      configOptions: this.options(session),
    };
  }

  options({ config }) {
    return [
      { id: "model", name: "Model", category: "model", type: "select", currentValue: config.model,
        options: [{ value: "small", name: "Small" }, { value: "big", name: "Big", description: "slower" }] },
      { id: "effort", name: "Effort", type: "select", currentValue: config.effort,
        options: [{ group: "usual", name: "Usual", options: [{ value: "low", name: "Low" }, { value: "high", name: "High" }] }] },
      { id: "web", name: "Web", type: "boolean", currentValue: config.web },
    ];
  }

  // Two sessions a page; the cursor is the place of the next one.
  list({ cwd, cursor }) {
    const start = cursor == null ? 0 : Number(cursor);
    if (!Number.isInteger(start)) throw RequestError.invalidParams({ cursor });
    const all = [...this.sessions.values()].filter((s) => cwd == null || s.cwd === cwd);
    const page = all.slice(start, start + 2).map((s) => ({
      sessionId: s.id, cwd: s.cwd, updatedAt: "2026-11-20T10:00:00Z", ...(s.title ? { title: s.title } : {}),
    }));
    return start + 2 < all.length ? { sessions: page, nextCursor: String(start + 2) } : { sessions: page };
  }

  providers() {
    return [{ providerId: "main", supported: ["anthropic", "openai"], required: false, current: this.provider }];
  }
}
