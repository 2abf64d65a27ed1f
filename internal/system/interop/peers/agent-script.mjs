// A turn that makes the requests which its prompt lists, one after the other. README.md says what a step is.
export async function runScript(steps, { client, sessionId, note, cancelled }) {
  const answers = {}; // by label, for $label.member in later params
  const open = {}; // what was started and not waited for
  const resolve = (v) => {
    if (typeof v === "string" && v.startsWith("$")) return v.slice(1).split(".").reduce((at, name) => at?.[name], answers);
    if (Array.isArray(v)) return v.map(resolve);
    if (v === null || typeof v !== "object") return v;
    if (typeof v.$fill === "number") return "x".repeat(v.$fill);
    return Object.fromEntries(Object.entries(v).map(([name, member]) => [name, resolve(member)]));
  };
  const failure = (e) => ({ error: { code: e.code, message: e.message, data: e.data ?? null } });
  for (const { label, method, params, notify, times = 1, start, wait, take, cancel } of steps) {
    if (notify) {
      await client.notify(notify, { sessionId, ...resolve(params) });
    } else if (cancel) {
      await cancelled();
    } else if (wait) {
      await open[wait].done;
    } else if (take) {
      open[take].stop.abort();
      await open[take].done;
    } else {
      const stop = new AbortController();
      const request = () => client.request(method, { sessionId, ...resolve(params) }, { cancellationSignal: stop.signal }).catch(failure);
      const done = Promise.all(Array.from({ length: times }, request)).then((all) => {
        answers[label] = all[0];
        note(`answer:${label}`, times === 1 ? all[0] : all);
      });
      open[label] = { stop, done };
      if (!start) await done;
    }
  }
}
