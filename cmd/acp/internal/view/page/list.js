// A list of so many rows that only those that are seen exist. Rows are read in chunks.

const rowHeight = 22 // as in page.css
const tallest = 10_000_000 // pixels; browsers draw nothing beyond some limit
const chunkSize = 100

export class List {
  // read(params) returns the chunk {total, place, from, rows} with the place, message or time in params. draw
  // returns the element of a row, or of one that is not read yet.
  constructor(box, { read, draw, report }) {
    Object.assign(this, { box, reader: read, drawRow: draw, report, total: 0, chunks: new Map(), generation: 0, loading: new Set() })
    this.space = box.appendChild(Object.assign(document.createElement('div'), { className: 'space' }))
    this.rows = this.space.appendChild(Object.assign(document.createElement('div'), { className: 'rows' }))
    box.addEventListener('scroll', () => this.draw())
    addEventListener('resize', () => this.draw())
  }

  // at returns the row at a place, if it is read.
  at(place) { return this.chunks.get(Math.floor(place / chunkSize))?.[place % chunkSize] }

  scaled() {
    const full = this.total * rowHeight, height = Math.min(full, tallest), seen = this.box.clientHeight
    return { height, factor: full > height ? (full - seen) / (height - seen) : 1 }
  }

  draw() {
    const { height, factor } = this.scaled(), { box } = this, top = box.scrollTop * factor / rowHeight
    this.space.style.height = `${height}px`
    const first = Math.max(0, Math.floor(top) - 5)
    const last = Math.min(this.total, first + Math.ceil(box.clientHeight / rowHeight) + 10)
    const rows = []
    for (let i = first; i < last; i++) {
      const chunk = this.chunks.get(Math.floor(i / chunkSize)), row = this.at(i) // a chunk that was read while the list was shorter may not have it
      rows.push(this.drawRow(row, i))
      if (!row || chunk.stale) this.load(Math.floor(i / chunkSize))
    }
    this.rows.replaceChildren(...rows)
    this.rows.style.transform = `translateY(${box.scrollTop - (top - first) * rowHeight}px)`
  }

  load(number) {
    if (this.loading.has(number)) return
    this.loading.add(number)
    this.read({ from: number * chunkSize }).catch(this.report).finally(() => this.loading.delete(number))
  }

  // read reads a chunk. It returns the row found there, and its place in the list.
  async read(params) {
    const { generation } = this
    const answer = await this.reader({ ...params, n: chunkSize }), { total, place, from, rows } = answer
    if (generation !== this.generation) return {}
    if (this.chunks.size > 100) this.chunks.clear()
    this.chunks.set(from / chunkSize, rows)
    this.total = total
    requestAnimationFrame(() => this.draw())
    return { ...answer, row: rows[place - from] }
  }

  // clear forgets all rows, because the filter has changed.
  clear() {
    this.generation++
    this.chunks.clear()
    this.loading.clear()
  }

  // age has all rows read again when they are drawn: they may have responses and faults now.
  age() { for (const chunk of this.chunks.values()) chunk.stale = true }

  // reveal scrolls to a place.
  reveal(place) {
    const { box } = this, { height, factor } = this.scaled()
    this.space.style.height = `${height}px`
    const top = place * rowHeight, seen = box.scrollTop * factor
    if (top < seen || top + rowHeight > seen + box.clientHeight) box.scrollTop = (top - box.clientHeight / 2) / factor
  }
}
