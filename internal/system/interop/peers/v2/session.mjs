// The life of one session of version 2: which prompt is worked on, which wait, and the state that the client is told.
import { RequestError } from "@agentclientprotocol/sdk/experimental/v2/unstable";

export class Session {
  title = null;
  archived = false;
  config = { model: "small", effort: "low", web: false, colour: "#fff" };
  history = []; // what a replay sends
  messages = 0;
  turn = null; // the work on a prompt: {cancelled, finish, asking}
  held = []; // prompts that wait for its end
  background = []; // {item, stop}

  constructor(id, cwd, send) {
    Object.assign(this, { id, cwd, send });
  }

  update(update, { keep = true } = {}) {
    if (keep) this.history.push(update);
    return this.send("session/update", { sessionId: this.id, update });
  }

  get state() {
    const state = !this.turn ? "idle" : this.turn.asking > 0 ? "requires_action" : "running";
    return { state, background: this.background.map((b) => b.item) };
  }

  sendState(more) {
    return this.update({ sessionUpdate: "state_update", ...this.state, ...more }, { keep: false });
  }

  // Waits until no prompt is worked on. Later prompts wait behind it.
  admit(signal) {
    if (!this.turn) {
      this.begin();
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const entry = { resolve, reject };
      this.held.push(entry);
      signal.addEventListener("abort", () => this.refuse(entry));
    });
  }

  begin() {
    const turn = { abort: new AbortController(), asking: 0 };
    turn.finished = new Promise((resolve) => (turn.finish = resolve));
    turn.cancelled = new Promise((resolve) => turn.abort.signal.addEventListener("abort", resolve));
    turn.ended = new Promise((resolve) => (turn.end = resolve));
    this.turn = turn;
  }

  refuse(entry) {
    if (!this.held.includes(entry)) return;
    this.held = this.held.filter((e) => e !== entry);
    entry.reject(RequestError.requestCancelled());
  }

  cancel() {
    this.turn?.abort.abort();
    for (const entry of [...this.held]) this.refuse(entry);
  }

  async idle(more) {
    const { turn } = this;
    this.turn = null;
    await this.sendState(more);
    turn.end();
    const next = this.held.shift();
    if (next) {
      this.begin();
      next.resolve();
    }
  }

  // Ends all work; the last updates are sent when it returns.
  async close() {
    const { turn } = this;
    this.cancel();
    await turn?.ended;
    for (const work of [...this.background]) await this.stop(work);
  }

  async stop(work) {
    await work.stop();
    this.background = this.background.filter((b) => b !== work);
    await this.sendState();
  }

  // Ends one piece of background work, as tool_call/cancel and terminal/cancel ask for.
  async cancelOne(key, id) {
    const work = this.background.find((b) => b.item[key] === id);
    if (!work) throw RequestError.invalidParams({ [key]: id }, "it cannot be cancelled");
    setImmediate(() => this.stop(work));
  }

  async replay() {
    for (const update of this.history) {
      const { sessionUpdate, messageId, content } = update;
      if (sessionUpdate !== "user_message") {
        await this.update(update, { keep: false });
        continue;
      }
      await this.update({ sessionUpdate, messageId, content: [] }, { keep: false });
      for (const block of content) {
        await this.update({ sessionUpdate: "user_message_chunk", messageId, content: block }, { keep: false });
      }
    }
  }
}
