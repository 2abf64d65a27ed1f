// Elements, texts and numbers of the pages. All that a peer has sent becomes text by textContent, never
// markup, and what cannot be seen in it, or turns it around, becomes visible.

export const $ = id => document.getElementById(id)

// Characters that control, cannot be seen, or change the direction of a text. Joiners stay within words and emoji.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![^\x00-\x7f])[\u200c\u200d\ufe00-\ufe0f]/gu

// visible returns a text with escapes in place of what cannot be seen.
export const visible = text => String(text).replaceAll('\r\n', '\n').replace(unseen, c => `\\u{${c.codePointAt(0).toString(16)}}`)

// el makes an element. Children are elements and texts; those that are empty, false or 0 are left out.
export function el(tag, className, ...children) {
  const e = document.createElement(tag)
  e.className = className
  e.append(...children.filter(Boolean).map(c => c instanceof Node ? c : visible(c)))
  return e
}

export function button(text, onclick, className = '') {
  return Object.assign(el('button', className, text), { onclick })
}

// svg makes an element of a drawing.
export function svg(tag, attributes) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const name in attributes) e.setAttribute(name, attributes[name])
  return e
}

export function duration(micros) {
  if (micros < 1000) return `${micros} µs`
  if (micros < 1e6) return `${(micros / 1e3).toPrecision(3)} ms`
  return `${(micros / 1e6).toFixed(2)} s`
}

export const clock = time => { const t = new Date(time); return `${t.toLocaleTimeString('en-GB')}.${String(t.getMilliseconds()).padStart(3, '0')}` }
export const count = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`
export const bytes = n => n < 10_000 ? `${n} bytes` : n < 10_000_000 ? `${Math.round(n / 1024)} KiB` : `${Math.round(n / 1048576)} MiB`

// latest returns a function that calls f. A call that comes while f runs waits for its end; of several
// that wait, only the last one is made.
export function latest(f, report) {
  let next, running = false
  return async (...args) => {
    next = args
    if (running) return
    for (running = true; next;) {
      const now = next
      next = null
      await f(...now).catch(report)
    }
    running = false
  }
}
