// The forms of the agent.

import { el, button } from './dom.js'

// drawForm returns the card of a form. done(answer) is called with what the person does.
export function drawForm({ message, schema, problem }, done) {
  const fields = Object.entries(schema?.properties ?? {}), required = schema?.required ?? []
  const card = el('form', 'card asks', el('div', 'text', message), problem && el('div', 'failed text', problem),
    ...fields.map(([name, field]) => el('label', '', el('span', 'text', field.title ?? name), input(name, field, required.includes(name)),
      field.description && el('span', 'dim text', field.description))))
  const decline = button('Decline', () => done({ action: 'decline' }))
  decline.type = 'button'
  card.append(el('div', 'buttons', el('button', '', 'Send'), decline))
  card.onsubmit = event => {
    event.preventDefault()
    done({ action: 'accept', content: values(fields, new FormData(card)) })
  }
  return card
}

function values(fields, data) {
  const content = {}
  for (const [name, field] of fields) {
    const value = data.get(name)
    if (field.type === 'boolean') content[name] = value !== null
    else if (field.type === 'array') content[name] = data.getAll(name)
    else if (value) content[name] = ['number', 'integer'].includes(field.type) ? Number(value) : value
  }
  return content
}

function input(name, field, required) {
  const plain = list => list?.map(v => ({ const: v }))
  const choices = plain(field.enum) ?? field.oneOf ?? plain(field.items?.enum) ?? field.items?.anyOf
  if (choices) {
    const many = field.type === 'array', chosen = [field.default ?? []].flat()
    const empty = required || many ? [] : [el('option')]
    const select = el('select', '', ...empty, ...choices.map(c => Object.assign(el('option', '', c.title ?? c.const), { value: c.const, selected: chosen.includes(c.const) })))
    return Object.assign(select, { name, required, multiple: many })
  }
  const type = { boolean: 'checkbox', number: 'number', integer: 'number' }[field.type] ?? 'text'
  const box = Object.assign(el('input'), { name, type, required: required && type !== 'checkbox' })
  if (type === 'checkbox') return Object.assign(box, { checked: field.default === true })
  box.value = field.default ?? ''
  const limits = { step: field.type === 'number' ? 'any' : undefined, min: field.minimum, max: field.maximum, maxLength: field.maxLength, pattern: field.pattern }
  for (const [limit, value] of Object.entries(limits)) if (value !== undefined) box.setAttribute(limit, value)
  return box
}
