// Draws a call of a schedule from the numbers in #data, which view/page_data.cc writes. Step 0 is the state before the first
// step; step i is row i - 1 of the data.
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const lanes = data.lanes.length;
const element = id => document.getElementById(id);
const whole = number => Math.round(number).toLocaleString('en-US');
const plural = (number, word) => `${whole(number)} ${word}${number === 1 ? '' : 's'}`;

// ---- Reading

// Returns a reader of the numbers that view/pack.cc has packed.
function reader(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = letters.charCodeAt(i);
  let at = 0;
  const next = () => {
    for (let value = 0, weight = 1;; weight *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * weight;
      if (byte < 128) return value;
    }
  };
  const signed = () => { const n = next(); return n % 2 ? -(n + 1) / 2 : n / 2; };
  const list = read => Array.from({length: next()}, read);
  return {next, signed, list, isEmpty: bytes.length === 0};
}

function readRows() {
  const keys = reader(data.keys), statements = reader(data.statements), arcs = reader(data.arcs);
  let key = 0;
  return Array.from({length: data.rows}, (_, row) => {
    key += keys.signed();
    const last = key + keys.next();
    let cell = 0;
    return {
      name: last > key ? `steps ${key} to ${last}` : `step ${key}`, heading: data.headings[row], statements: statements.list(statements.next),
      arcs: arcs.list(() => {
        cell += arcs.next();
        const flags = arcs.next();
        return {cell, between: flags & 1, count: arcs.next()};
      })};
  });
}

// Reads the traffic of the whole call. A pair of lanes has up to two entries: between nodes, and inside a node.
function readTraffic() {
  const packed = reader(data.traffic);
  let cell = 0;
  return packed.list(() => ({cell: cell += packed.next(), between: packed.next(), bytes: packed.next(), count: packed.next()}));
}

function readHoldings() {
  const packed = reader(data.holdings.changes);
  return Array.from({length: data.rows + 1}, () => {
    let cell = 0;
    return packed.list(() => ({cell: cell += packed.next(), received: packed.signed(), temporary: packed.signed()}));
  });
}

function readRun(run) {
  const windows = reader(run.windows), path = reader(run.path);
  const result = {...run, windows: [], path: [], messages: []};
  if (!windows.isEmpty)
    for (let row = 0; row < data.rows; ++row) {
      const begin = windows.next();
      result.windows.push({begin, end: begin + windows.next()});
    }
  const times = (one, packed) => { one.begin = packed.next(); one.end = one.begin + packed.next(); return one; };
  if (!path.isEmpty) result.path = path.list(() => times({from: path.next(), to: path.next(), bytes: path.next(), between: path.next()}, path));
  const spans = reader(run.spans);
  if (run.detail) {
    const messages = reader(run.messages);
    result.messages = messages.list(() => times(
      {from: messages.next(), to: messages.next(), bytes: messages.next(), between: messages.next(), step: messages.next()}, messages));
    result.spans = data.lanes.map(() => {
      let end = 0;
      return spans.list(() => { const n = spans.next(), begin = end; end += Math.floor(n / 4); return {begin, end, doing: n % 4}; });
    });
  } else {
    result.shares = [];
    for (let i = 0; i < lanes * kParts * 3; ++i) result.shares.push(spans.next());
  }
  return result;
}

const kParts = 480;  // of the time, if the data has shares
const kDoing = ['busy', 'between', 'inside', 'idle'];
const kWords = ['copies or overheads', 'messages between nodes', 'messages inside a node', 'idle'];
let rows = [];  // read after the first picture
const runs = data.runs.map(readRun);
const laneOf = data.ranks.flatMap((ranks, lane) => Array(ranks).fill(lane));
const rankName = rank => rank < data.firstRanks ? `${rank}` : `${rank - data.firstRanks}'`;
const laneName = lane => data.byRank ? `rank ${data.lanes[lane]}` : data.lanes[lane];
const shortName = lane => data.lanes[lane].replace(/^\D+/, '');

// Returns a time with four digits and a unit.
function duration(picoseconds) {
  const units = [[1e12, 's'], [1e9, 'ms'], [1e6, 'us'], [1e3, 'ns']];
  const [size, unit] = units.find(([least]) => picoseconds >= least) ?? [1e3, 'ns'];
  return `${Number((picoseconds / size).toPrecision(4))} ${unit}`;
}

// ---- Drawing

let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['ground', 'panel', 'line', 'ink', 'faint', 'between', 'inside', 'busy', 'idle', 'path', 'received', 'temporary', 'mark'])
    colours[name] = style.getPropertyValue(`--${name}`).trim();
}

// Empties the canvas, gives it that size in CSS pixels, and returns its context.
function prepare(canvas, width, height) {
  const scale = Math.max(2, window.devicePixelRatio);
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  return context;
}

function write(context, text, x, y, align = 'left', colour = 'faint') {
  context.fillStyle = colours[colour];
  context.textAlign = align;
  context.fillText(text, x, y);
}

// Shows a tip that follows the pointer. `words` returns its text, or nothing.
function tell(canvas, words) {
  canvas.onmousemove = event => {
    const text = words(event.offsetX, event.offsetY), tip = element('tip');
    tip.hidden = !text;
    tip.textContent = text ?? '';
    tip.style.left = `${Math.min(event.clientX + 12, window.innerWidth - 250)}px`;
    tip.style.top = `${event.clientY + 14}px`;
  };
  canvas.onmouseleave = () => { element('tip').hidden = true; };
}

// ---- What each lane does

class Timeline {
  static left = 92;
  static right = 74;

  constructor(run) {
    this.run = run;
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    const idle = run.idle.reduce((sum, one, lane) => sum + one * data.ranks[lane], 0) / laneOf.length;
    const said = `${run.name}: ${duration(run.time)}; ranks are idle for ${(idle / 10).toFixed(1)} % of it on average` +
      (run.full < 1 ? `; a row is full when ${Number((100 * run.full).toPrecision(3))} % of its ranks have messages on their way` : '');
    this.canvas.setAttribute('aria-label', said);
    const heading = document.createElement('h3');
    heading.textContent = said;
    element('runs').append(heading, this.canvas);
    this.row = lanes <= 16 ? 26 : 15;
    tell(this.canvas, (x, y) => this.words(x, y));
  }

  // Return the place of a time in ticks, and the middle of a lane.
  x(time) { return Timeline.left + time * this.run.tick / Math.max(1, this.run.time) * this.plot; }
  y(lane) { return this.row * lane + this.row / 2 + 4; }

  draw(step) {
    const width = Math.max(480, element('runs').clientWidth), height = this.row * lanes + 46;
    this.plot = width - Timeline.left - Timeline.right;
    const context = prepare(this.canvas, width, height);
    this.pixels = kDoing.map(doing => 0xff000000 + parseInt(colours[doing].replace(/#(..)(..)(..)/, '$3$2$1'), 16));
    for (let lane = 0; lane < lanes; ++lane) {
      write(context, laneName(lane), Timeline.left - 6, this.y(lane), 'right', 'ink');
      write(context, `${(this.run.idle[lane] / 10).toFixed(1)} % idle`, width - Timeline.right + 6, this.y(lane));
      this.run.detail ? this.drawSpans(context, lane) : this.drawShares(context, lane);
    }
    this.drawNodes(context);
    this.drawAxis(context, height);
    this.drawStep(context, step, height);
    this.drawPath(context);
  }

  drawSpans(context, lane) {
    for (const span of this.run.spans[lane]) {
      context.fillStyle = colours[kDoing[span.doing]];
      const high = this.row - 4;
      context.fillRect(this.x(span.begin), this.y(lane) - high / 2, Math.max(.5, this.x(span.end) - this.x(span.begin)), high);
    }
  }

  // Each part of the time is a column of an image, which is then stretched.
  drawShares(context, lane) {
    const high = 2 * (this.row - 2), image = new ImageData(kParts, high);
    const bytes = new Uint32Array(image.data.buffer).fill(this.pixels[3]);
    for (let part = 0; part < kParts; ++part) {
      let end = 0, y = high;
      for (const doing of [1, 2, 0]) {
        end += this.run.shares[(lane * kParts + part) * 3 + doing] / 127 * high;
        while (y > 0 && high - y < end - .5) bytes[--y * kParts + part] = this.pixels[doing];
      }
    }
    const canvas = document.createElement('canvas');
    canvas.width = kParts;
    canvas.height = high;
    canvas.getContext('2d').putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(canvas, Timeline.left, this.y(lane) - high / 4, this.plot, high / 2);
  }

  // Draws a line between lanes of different nodes.
  drawNodes(context) {
    context.fillStyle = colours.faint;
    for (let lane = 1; lane < lanes; ++lane)
      if (data.unit !== 'node' && data.nodes[lane] !== data.nodes[lane - 1])
        context.fillRect(8, this.row * lane + 3.5, Timeline.left - 8 + this.plot, 1);
  }

  drawAxis(context, height) {
    for (let i = 0; i <= 4; ++i)
      write(context, duration(this.run.time * i / 4), Timeline.left + this.plot * i / 4, height - 8, i === 0 ? 'left' : i === 4 ? 'right' : 'center');
  }

  drawStep(context, step, height) {
    const during = this.run.windows[step - 1];
    if (!during || during.begin === during.end) return;
    const left = this.x(during.begin), width = Math.max(2, this.x(during.end) - left);
    context.fillStyle = colours.mark;
    context.strokeStyle = colours.faint;
    context.fillRect(left, height - 26, width, 8);
    context.strokeRect(left, height - 26, width, 8);
    context.setLineDash([3, 3]);
    context.strokeRect(left, 2, width, height - 26);
    context.setLineDash([]);
    context.strokeStyle = colours.ink;
    context.lineWidth = 1;
    for (const message of this.run.messages)
      if (message.step === step) this.drawLine(context, message);
  }

  drawLine(context, message) {
    context.beginPath();
    context.moveTo(this.x(message.begin), this.y(laneOf[message.from]));
    context.lineTo(this.x(message.end), this.y(laneOf[message.to]));
    context.stroke();
  }

  // Draws few legs as joined lines, and many as marks at the lanes that receive. A bar below shows their kinds.
  drawPath(context) {
    const {path} = this.run, isShort = path.length <= 150, top = this.row * lanes + 8;
    const lines = (colour, width, dashes, draw) => {
      context.strokeStyle = colours[colour];
      context.lineWidth = width;
      context.setLineDash(dashes);
      context.beginPath();
      path.forEach(draw);
      context.stroke();
      context.setLineDash([]);
    };
    const line = (x0, y0, x1, y1) => { context.moveTo(x0, y0); context.lineTo(x1, y1); };
    const leap = leg => line(this.x(leg.begin), this.y(laneOf[isShort ? leg.from : leg.to]), this.x(leg.end), this.y(laneOf[leg.to]));
    lines('ground', isShort ? 5 : 4.5, [], leap);
    lines('path', isShort ? 2.5 : 3, [], leap);
    // A dashed line joins a leg to the one before it, if a message has waited behind one of another lane.
    if (isShort)
      lines('path', 1.5, [2, 2], (leg, i) => i > 0 && line(this.x(leg.begin), this.y(laneOf[path[i - 1].to]), this.x(leg.begin), this.y(laneOf[leg.from])));
    if (path.length > 0) write(context, 'critical path', Timeline.left - 6, top + 4, 'right', 'ink');
    for (const leg of path) {
      context.fillStyle = colours[leg.from === leg.to ? 'busy' : leg.between ? 'between' : 'inside'];
      context.fillRect(this.x(leg.begin), top, this.x(leg.end) - this.x(leg.begin) + .2, 8);
    }
  }

  words(x, y) {
    const lane = Math.floor((y - 4) / this.row), part = (x - Timeline.left) / this.plot;
    if (lane < 0 || lane >= lanes || part < 0 || part >= 1) return;
    const time = part * this.run.time / this.run.tick;
    let text = `${laneName(lane)}, ${duration(part * this.run.time)}`;
    if (this.run.detail) {
      text += `: ${kWords[this.run.spans[lane].find(one => one.end > time)?.doing ?? 3]}`;
    } else {
      const share = doing => (this.run.shares[(lane * kParts + Math.floor(part * kParts)) * 3 + doing] * this.run.full / 1.27).toFixed(1);
      text += `: ${[1, 2, 0].map(doing => `${kWords[doing]} ${share(doing)} %`).join(', ')}`;
    }
    const leg = this.run.path.find(one => one.end > time);
    if (leg && leg.from !== leg.to)
      text += `; critical path: rank ${rankName(leg.from)} to ${rankName(leg.to)}, ${plural(leg.bytes, 'byte')}`;
    return text;
  }
}

// ---- Squares of lanes against lanes

// Calls `cell(context, row, column, x, y, size)` for each pair of lanes. Names and sums, if any, are beside them.
class Square {
  constructor(canvas, corner, cell, words) {
    this.canvas = canvas;
    this.corner = corner;
    this.cell = cell;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', corner.join(', '));
    this.left = 74;
    this.top = 34;
    tell(canvas, (x, y) => {
      const row = Math.floor((y - this.top) / this.size), column = Math.floor((x - this.left) / this.size);
      if (row >= 0 && column >= 0 && row < lanes && column < lanes) return words(row, column);
    });
  }

  draw(sums) {
    const room = this.canvas.parentElement.clientWidth - this.left - (sums ? 80 : 0);
    this.size = Math.max(6, Math.min(46, Math.floor(Math.min(room, 620) / lanes)));
    const side = this.size * lanes;
    const context = prepare(this.canvas, this.left + side + (sums ? 80 : 2), this.top + side + (sums ? 22 : 2));
    write(context, this.corner[1], this.left, 8);
    write(context, this.corner[0], 0, this.top - 8);
    const every = Math.ceil(13 / this.size);
    const everySum = Math.ceil(Math.max(...(sums?.columns ?? [0]).map(sum => context.measureText(whole(sum)).width + 8)) / this.size);
    context.fillStyle = colours.ground;
    context.fillRect(this.left, this.top, side, side);
    context.fillStyle = colours.line;
    for (let i = 1; i <= lanes; ++i) {
      context.fillRect(this.left + this.size * i - 1, this.top, 1, side);
      context.fillRect(this.left, this.top + this.size * i - 1, side, 1);
    }
    for (let i = 0; i < lanes; ++i) {
      const middle = this.size * i + this.size / 2;
      if (i % every === 0) write(context, data.byRank ? data.lanes[i] : shortName(i), this.left - 6, this.top + middle, 'right', 'ink');
      if (i % Math.ceil(26 / this.size) === 0) write(context, shortName(i), this.left + middle, this.top - 8, 'center', 'ink');
      for (let j = 0; j < lanes; ++j) {
        this.cell(context, i, j, this.left + this.size * j, this.top + this.size * i, this.size - 1);
      }
      if (!sums) continue;
      if (i % every === 0) write(context, whole(sums.rows[i]), this.left + side + 6, this.top + middle);
      if (i % everySum === 0) write(context, whole(sums.columns[i]), this.left + middle, this.top + side + 10, 'center');
    }
  }
}

const shade = part => part > 0 ? .2 + .8 * Math.sqrt(Math.min(1, part)) : 0;

// ---- The data that lanes hold

const holdings = {
  changes: [], parts: data.holdings.parts, step: -1, most: 1,
  received: new Float64Array(lanes * lanes * data.holdings.parts), temporary: new Float64Array(lanes * lanes * data.holdings.parts),
  apply(changes, sign) {
    for (const change of changes) {
      this.received[change.cell] += sign * change.received;
      this.temporary[change.cell] += sign * change.temporary;
      this.most = Math.max(this.most, this.received[change.cell], this.temporary[change.cell]);
    }
  },
  goTo(step) {
    while (this.step < step) this.apply(this.changes[++this.step], 1);
    while (this.step > step) this.apply(this.changes[this.step--], -1);
  },
  isEmpty() { return this.changes.every(changes => changes.length === 0); },
  sum(of, row, column) {
    const first = (row * lanes + column) * this.parts;
    return of.subarray(first, first + this.parts).reduce((sum, one) => sum + one, 0);
  },
};
const holdingsSquare = new Square(element('holdings'), ['held by', 'from'], (context, row, column, x, y, size) => {
  for (let part = 0; part < holdings.parts; ++part) {
    const cell = (row * lanes + column) * holdings.parts + part, width = size / holdings.parts, left = x + part * width;
    const received = holdings.received[cell], temporary = holdings.temporary[cell];
    const fill = (colour, amount, top, high) => {
      if (amount === 0) return;
      context.globalAlpha = shade(amount / holdings.most);
      context.fillStyle = colours[colour];
      context.fillRect(left, top, holdings.parts > 1 ? Math.max(1, width - .7) : width, high);
      context.globalAlpha = 1;
    };
    const both = received > 0 && temporary > 0;
    fill('received', received, y, both ? size / 2 : size);
    fill('temporary', temporary, both ? y + size / 2 : y, both ? size / 2 : size);
  }
}, (row, column) => {
  const unit = data.holdings.unit;
  return `${laneName(row)} holds of ${laneName(column)}: ${plural(holdings.sum(holdings.received, row, column), unit)} in the receive buffer, ` +
    `${plural(holdings.sum(holdings.temporary, row, column), unit)} in the temporary buffer`;
});

function drawHoldings(step) {
  holdings.goTo(step);
  holdingsSquare.draw();
  const total = of => of.reduce((sum, one) => sum + one, 0);
  const unit = data.holdings.unit;
  element('held').textContent = `All together: ${plural(total(holdings.received), unit)} in receive buffers, ` +
    `${plural(total(holdings.temporary), unit)} in temporary buffers. A sum counts once for each rank that is in it.`;
}

// ---- Traffic

let traffic = [];
const isStepScope = () => document.querySelector('[name=scope]:checked').value === 'step';
let shown = {cells: new Map(), most: 1, unit: 'byte'};

// Chooses what the matrix shows: bytes of the whole call, or messages of a step. Returns the words below it.
function chooseTraffic(step) {
  const byStep = isStepScope();
  const all = byStep ? rows[step - 1]?.arcs ?? [] : traffic;
  shown = {cells: new Map(), most: 1, unit: byStep ? 'message' : 'byte', sums: {rows: Array(lanes).fill(0), columns: Array(lanes).fill(0)}};
  const total = {bytes: [0, 0], count: [0, 0]};
  for (const one of all) {
    const amount = byStep ? one.count : one.bytes;
    const cell = shown.cells.get(one.cell) ?? {amount: 0, between: 0};
    cell.amount += amount;
    cell.between |= one.between;
    shown.cells.set(one.cell, cell);
    shown.most = Math.max(shown.most, cell.amount);
    shown.sums.rows[Math.floor(one.cell / lanes)] += amount;
    shown.sums.columns[one.cell % lanes] += amount;
    total.bytes[one.between] += one.bytes ?? 0;
    total.count[one.between] += one.count;
  }
  const words = i => plural(total.count[i], 'message') + (byStep ? '' : `, ${plural(total.bytes[i], 'byte')},`);
  return `${words(1)} between nodes; ${words(0)} inside a node.`;
}
const matrixSquare = new Square(element('matrix'), ['from', 'to'], (context, row, column, x, y, size) => {
  const cell = shown.cells.get(row * lanes + column);
  if (!cell) return;
  context.globalAlpha = shade(cell.amount / shown.most);
  context.fillStyle = colours[cell.between ? 'between' : 'inside'];
  context.fillRect(x, y, size, size);
  context.globalAlpha = 1;
}, (row, column) => {
  const cell = shown.cells.get(row * lanes + column);
  return `${laneName(row)} to ${laneName(column)}: ${plural(cell?.amount ?? 0, shown.unit)}`;
});

function drawTraffic(step) {
  element('sums').textContent = chooseTraffic(step);
  matrixSquare.draw(shown.sums);
}

// Makes a table of the bytes of the whole call, with sums, for readers who do not see the picture.
function makeTable() {
  const bytes = new Float64Array(lanes * lanes);
  for (const one of traffic) bytes[one.cell] += one.bytes;
  const table = document.createElement('table');
  const addRow = (name, numbers) => {
    const row = table.insertRow();
    row.appendChild(document.createElement('th')).textContent = name;
    for (const number of numbers) row.insertCell().textContent = number;
  };
  const sum = (first, by) => Array.from({length: lanes}, (_, i) => bytes[first + i * by]).reduce((a, b) => a + b, 0);
  addRow('from, to', [...data.lanes, 'sum']);
  data.lanes.forEach((name, lane) => addRow(name, [...bytes.subarray(lane * lanes, (lane + 1) * lanes), sum(lane * lanes, 1)]));
  addRow('sum', [...data.lanes.map((_, lane) => sum(lane, lanes)), bytes.reduce((a, b) => a + b, 0)]);
  element('table').querySelector('div').replaceChildren(table);
}

// ---- The image

// Saves a picture of the headline and of what each lane does.
function saveImage() {
  const drawn = timelines[0].canvas, high = 1120 * drawn.height / drawn.width;
  const link = document.createElement('a'), canvas = document.createElement('canvas'), context = prepare(canvas, 1200, high + 170);
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, 1200, high + 170);
  context.font = 'bold 28px system-ui, sans-serif';
  let line = '', y = 44;
  for (const word of [...document.title.split(' '), '']) {
    const isFull = context.measureText(line + word).width > 1120;
    if (isFull || !word) write(context, line, 40, y, 'left', 'ink'), y += 36;
    line = `${isFull ? '' : line}${word} `;
  }
  context.drawImage(drawn, 40, 150, 1120, high);
  link.href = canvas.toDataURL();
  link.download = 'quadrille.png';
  link.click();
}

// ---- The chosen step

let step = Math.min(1, data.rows), playing = 0, timelines = [];

function stepWords() {
  if (step === 0) return `before the first of ${plural(data.rows, 'step')}`;
  const row = rows[step - 1], during = runs[0].windows[step - 1];
  const count = row.arcs.reduce((sum, arc) => sum + arc.count, 0);
  return [`${row.name} (${step} of ${data.rows})`, row.heading, plural(count, 'message'),
    during && during.end > during.begin ? `${duration(during.begin * runs[0].tick)} to ${duration(during.end * runs[0].tick)}` : '']
    .filter(Boolean).join(', ');
}

function markText() {
  const running = new Set(rows[step - 1]?.statements ?? []);
  for (const line of document.querySelectorAll('#program span'))
    line.classList.toggle('runs', running.has(Number(line.dataset.step ?? -1)));
  const code = element('program'), first = document.querySelector('#program .runs');
  if (first) code.scrollTop = first.offsetTop - code.offsetTop - code.clientHeight / 3;
  for (const row of document.querySelectorAll('.figure [data-row]'))
    row.classList.toggle('chosen', Number(row.dataset.row) === step - 1);
}

function draw() {
  for (const timeline of timelines) timeline.draw(step);
  markText();
  element('slider').value = step;
  element('now').textContent = stepWords();
  drawHoldings(step);
  drawTraffic(step);
}

function go(to) {
  step = Math.max(0, Math.min(data.rows, to));
  draw();
}

function play() {
  const stop = playing !== 0;
  clearInterval(playing);
  playing = 0;
  element('play').textContent = stop ? 'play' : 'stop';
  if (stop) return;
  if (step === data.rows) go(0);
  playing = setInterval(() => step < data.rows ? go(step + 1) : play(), Math.max(80, Math.min(700, 20000 / data.rows)));
}

const kKeys = {
  ArrowRight: () => go(step + 1), ArrowUp: () => go(step + 1), ArrowLeft: () => go(step - 1), ArrowDown: () => go(step - 1),
  Home: () => go(0), End: () => go(data.rows), ' ': play};

function listen() {
  const buttons = {first: 'Home', back: 'ArrowLeft', play: ' ', next: 'ArrowRight', last: 'End'};
  for (const [id, key] of Object.entries(buttons)) element(id).onclick = kKeys[key];
  element('save').onclick = saveImage;
  element('slider').max = data.rows;
  element('slider').oninput = event => go(Number(event.target.value));
  document.addEventListener('keydown', event => {
    const isControl = /^(INPUT|BUTTON|SUMMARY)$/.test(event.target.tagName);  // it has keys of its own
    if (isControl && (event.key === ' ' || event.target.tagName === 'INPUT') || event.ctrlKey || event.altKey || event.metaKey) return;
    if (!kKeys[event.key]) return;
    event.preventDefault();
    kKeys[event.key]();
  });
  for (const radio of document.querySelectorAll('[name=scope]')) radio.onchange = () => drawTraffic(step);
  element('table').ontoggle = makeTable;
  for (const row of document.querySelectorAll('.figure [data-row]')) row.onclick = () => go(Number(row.dataset.row) + 1);
  const redraw = () => { readColours(); draw(); };
  for (const query of ['(prefers-color-scheme: dark)', 'print']) matchMedia(query).addEventListener('change', redraw);
  window.addEventListener('resize', redraw);
}

readColours();
element('sizes').hidden = !document.querySelector('.curves');
timelines = runs.map(run => new Timeline(run));
for (const timeline of timelines) timeline.draw(step);
requestAnimationFrame(() => setTimeout(() => {
  performance.mark('first picture');
  rows = readRows();
  traffic = readTraffic();
  holdings.changes = readHoldings();
  element('blocks').hidden = holdings.isEmpty();
  if (holdings.parts > 1)
    element('parts').textContent = data.holdings.areBlocks ? '. In each square: the blocks for rank 0, 1 and so on' : '. In each square: equal parts of the data';
  holdings.goTo(data.rows);  // finds the most that a cell holds
  listen();
  draw();
  document.body.dataset.ready = 'yes';
}));
})();
