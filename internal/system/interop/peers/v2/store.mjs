// What the agent of version 2 remembers: sessions, settings, and a journal of all it was told.
import { RequestError } from "@agentclientprotocol/sdk/experimental/v2/unstable";
import { Session } from "./session.mjs";

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

  create(cwd, send) {
    const session = new Session(`session-${++this.made}`, cwd, send);
    this.sessions.set(session.id, session);
    return session;
  }

  get(id) {
    const session = this.sessions.get(id);
    if (!session) throw RequestError.sessionNotFound(id);
    return session;
  }

  state(session) {
    return { configOptions: this.options(session), availableCommands: [{ type: "command", name: "greet", description: "says hello" }] };
  }

  options({ config }) {
    return [
      { configId: "model", name: "Model", category: "model", type: "select", currentValue: config.model,
        options: [{ value: "small", name: "Small" }, { value: "big", name: "Big", description: "slower" }] },
      { configId: "effort", name: "Effort", type: "select", currentValue: config.effort,
        options: [{ groupId: "usual", name: "Usual", options: [{ value: "low", name: "Low" }, { value: "high", name: "High" }] }] },
      { configId: "web", name: "Web", type: "boolean", currentValue: config.web },
      { configId: "colour", name: "Colour", type: "_colour", currentValue: config.colour },
    ];
  }

  // Two sessions a page. The cursor of the second page is the empty string, which is a cursor like any other.
  list({ cwd, cursor }) {
    const start = cursor == null ? 0 : cursor === "" ? 2 : Number(cursor);
    if (!Number.isInteger(start)) throw RequestError.invalidParams({ cursor });
    const all = [...this.sessions.values()].filter((s) => cwd == null || s.cwd === cwd);
    const sessions = all.slice(start, start + 2).map((s) => ({
      sessionId: s.id, cwd: s.cwd, updatedAt: "2026-11-20T10:00:00Z", ...(s.title ? { title: s.title } : {}),
    }));
    if (start + 2 >= all.length) return { sessions };
    return { sessions, nextCursor: start === 0 ? "" : String(start + 2) };
  }

  providers() {
    return [{ providerId: "main", supported: ["anthropic", "openai"], required: false, current: this.provider }];
  }
}
