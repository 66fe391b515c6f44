/**
 * What a program finds around it, written for the engine inside. It is handed the one way out and keeps it to itself:
 * everything it needs later is taken before the program runs, so nothing that the program puts in the place of a built-in
 * reaches it. Records come in blocks and only a few blocks are held, so a history of any length can be walked.
 */
export const PRELUDE: string = `
(function (ask, setting) {
  "use strict";
  const { parse, stringify } = JSON;
  const { defineProperty, freeze, keys } = Object;
  const { floor, imul } = Math;
  const PromiseHere = Promise;
  const own = Reflect.getOwnPropertyDescriptor;
  const TypeErrorHere = TypeError;
  const ErrorHere = Error;
  const given = parse(setting);

  function frozen(value) {
    if (typeof value !== "object" || value === null) return value;
    for (const key of keys(value)) frozen(value[key]);
    return freeze(value);
  }
  function asked(question) {
    const answer = parse(ask(stringify(question)));
    if (answer.ok) return answer.value;
    throw new ErrorHere(answer.message);
  }

  const BLOCK = 256, HELD = 8;
  const blocks = [];
  let read = 0;
  function recordAt(index) {
    read += 1;
    for (let at = 0; at < blocks.length; at += 1) {
      const { from, records } = blocks[at];
      if (index >= from && index < from + records.length) return records[index - from];
    }
    // Large ones come in smaller blocks: whoever walks on asks from where the last one ended.
    const walksOn = blocks.length > 0 && blocks[0].from + blocks[0].records.length === index;
    let block = blockFrom(walksOn ? index : floor(index / BLOCK) * BLOCK);
    if (index >= block.from + block.records.length) block = blockFrom(index);
    for (let at = blocks.length < HELD ? blocks.length : HELD - 1; at > 0; at -= 1) blocks[at] = blocks[at - 1];
    blocks[0] = block;
    return block.records[index - block.from];
  }
  function blockFrom(from) {
    const to = from + BLOCK < given.records ? from + BLOCK : given.records;
    return { from, records: frozen(asked({ __proto__: null, kind: "records", from, to })) };
  }
  function indexOf(key) {
    if (typeof key !== "string") return -1;
    const index = +key; // told without calling anything that the program could have replaced
    return index >= 0 && index < given.records && index % 1 === 0 && "" + index === key ? index : -1;
  }
  function refuse() { throw new TypeErrorHere("context.conversation_history is read-only; copy what you need first"); }
  const target = [];
  const conversation_history = new Proxy(target, {
    get(_, key, receiver) {
      if (key === "length") return given.records;
      const index = indexOf(key);
      return index === -1 ? Reflect.get(target, key, receiver) : recordAt(index);
    },
    has(_, key) { return indexOf(key) !== -1 || key in target; },
    getOwnPropertyDescriptor(_, key) {
      const index = indexOf(key);
      if (index === -1) return own(target, key);
      return { value: recordAt(index), writable: false, enumerable: true, configurable: true };
    },
    ownKeys() {
      const all = [];
      for (let index = 0; index < given.records; index += 1) all[index] = "" + index;
      all[given.records] = "length";
      return all;
    },
    set: refuse, defineProperty: refuse, deleteProperty: refuse, setPrototypeOf: refuse, preventExtensions: refuse,
  });

  function content(ref) {
    const seq = typeof ref === "object" && ref !== null ? ref.seq : ref;
    if (typeof ref === "string") return frozen(asked({ __proto__: null, kind: "program", source: ref }));
    if (typeof seq !== "number") throw new TypeErrorHere("content wants a record's outcome_summary.value, or its program_source");
    return frozen(asked({ __proto__: null, kind: "content", seq }));
  }
  const slices = { __proto__: null };
  for (const name of given.slices)
    defineProperty(slices, name, { enumerable: true, get: () => frozen(asked({ __proto__: null, kind: "slice", name })) });
  const tools = { __proto__: null };
  for (const name of given.tools) tools[name] = (input) => asked({ __proto__: null, kind: "tool", name, input: input === undefined ? {} : input });

  let state = 0;
  for (let at = 0; at < given.seed.length; at += 1) state = imul(state ^ given.seed.charCodeAt(at), 0x5bd1e995) | 0;
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = imul(state ^ (state >>> 15), 1 | state);
    t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const RealDate = Date;
  const now = given.now;
  function FixedDate(...args) {
    if (!new.target) return new RealDate(now).toString();
    return args.length === 0 ? new RealDate(now) : new RealDate(...args);
  }
  FixedDate.prototype = RealDate.prototype;
  RealDate.prototype.constructor = FixedDate;
  FixedDate.now = () => now;
  FixedDate.parse = RealDate.parse;
  FixedDate.UTC = RealDate.UTC;
  globalThis.Date = FixedDate;

  const log = [];
  let logged = 0;
  function print(...values) {
    if (log.length >= 100 || logged > 16384) return;
    let line = "";
    for (let at = 0; at < values.length; at += 1) {
      const value = values[at];
      let text;
      try { text = typeof value === "string" ? value : stringify(value) ?? "" + value; } catch { text = "?"; }
      line += (at === 0 ? "" : " ") + text;
    }
    logged += line.length;
    log[log.length] = line.length > 2048 ? line.slice(0, 2048) : line;
  }
  globalThis.console = freeze({ log: print, info: print, warn: print, error: print });
  const put = (name, value) => defineProperty(globalThis, name, { value, writable: false, configurable: false });
  put("context", freeze({ conversation_history, content, slices: freeze(slices) }));
  put("input", frozen(given.input));
  put("tools", freeze(tools));

  return (value) => {
    if (value instanceof PromiseHere) throw new TypeErrorHere("a program ends when it returns: await and promises do not work here");
    // Put together by hand: what the program has made of every object's toJSON is told of its own value, and of nothing else.
    let lines = "";
    for (let at = 0; at < log.length; at += 1) lines += (at === 0 ? "" : ",") + stringify(log[at]);
    return '{"value":' + (stringify(value) ?? "null") + ',"log":[' + lines + '],"read":' + read + "}";
  };
})
`;
