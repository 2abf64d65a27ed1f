// The settings of a session: its mode and its options.

import { el } from './dom.js'

let drawn = ''

// drawSettings draws the settings in the rest of a state, unless they are as before: one may have the focus.
export function drawSettings(box, { modes, options = [] }, send) {
  const now = JSON.stringify([modes, options])
  if (now === drawn) return
  drawn = now
  const parts = options.map(o => o.type === 'boolean'
    ? labelled(o.name, toggle(o.on, on => send('set', { option: o.id, on })))
    : o.groups && labelled(o.name, choice(o.value, o.groups.flatMap(g => g.values), value => send('set', { option: o.id, value }))))
  if (modes && !options.some(o => o.category === 'mode')) { // or it would be shown twice
    parts.unshift(labelled('Mode', choice(modes.current, modes.available ?? [], value => send('mode', { value }))))
  }
  box.replaceChildren(...parts.filter(Boolean))
}

const labelled = (name, input) => el('label', '', el('span', 'text', name), input)

const toggle = (checked, set) => Object.assign(el('input'), { type: 'checkbox', checked: !!checked, onchange: event => set(event.target.checked) })

function choice(current, values, set) {
  const select = el('select', '', ...values.map(v => Object.assign(el('option', '', v.name), { value: v.id })))
  select.value = current
  select.onchange = () => set(select.value)
  return select
}
