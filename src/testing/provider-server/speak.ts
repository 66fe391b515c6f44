import type { ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { CutPoint, ScriptedAnswer } from "../../records/script.ts";
import { type Dialect, frame, type Refusal, type ServerEvent, type Telling } from "./dialect.ts";

/** The line to one client. */
export interface Line {
  readonly response: ServerResponse;
  readonly clock: Clock;
  /** Aborts when the client has gone, or the server closes. */
  readonly gone: AbortSignal;
}

/** How an answer left: whole, or dropped where the script says. */
export type Left = "answered" | "cut";

export async function refuse({ response }: Line, { status, headers, body }: Refusal): Promise<void> {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  await written(response, JSON.stringify(body));
  response.end();
}

export function speak(
  line: Line,
  dialect: Dialect,
  answer: ScriptedAnswer,
  telling: Telling,
  path: string,
): Promise<Left> {
  return dialect.streams(telling.body, path)
    ? stream(line, dialect.events(answer, telling), answer)
    : speakWhole(line, JSON.stringify(dialect.whole(answer, telling)), answer);
}

/** Says what comes before the end of an answer, and leaves the line open. */
export async function begin(line: Line, dialect: Dialect, answer: ScriptedAnswer, telling: Telling): Promise<void> {
  const events = dialect.events(answer, telling).filter((event) => event.end === undefined);
  open(line.response);
  for (const event of events) await written(line.response, frame(event));
}

async function stream(line: Line, events: readonly ServerEvent[], { slowMs, cutAfter }: ScriptedAnswer): Promise<Left> {
  open(line.response);
  let bytes = 0;
  for (const [nth, event] of events.entries()) {
    if (slowMs !== undefined) await line.clock.sleep(slowMs, line.gone, "keep-alive");
    const text = Buffer.from(frame(event));
    const room = roomFor(cutAfter, nth, bytes, text.length);
    if (room < text.length) return cut(line, text.subarray(0, room), cutAfter);
    await written(line.response, text);
    bytes += text.length;
  }
  line.response.end();
  return "answered";
}

async function speakWhole(line: Line, body: string, { slowMs, cutAfter }: ScriptedAnswer): Promise<Left> {
  if (slowMs !== undefined) await line.clock.sleep(slowMs, line.gone, "keep-alive");
  const text = Buffer.from(body);
  const room = cutAfter === undefined ? text.length : "bytes" in cutAfter ? Math.min(cutAfter.bytes, text.length) : 0;
  line.response.writeHead(200, { "content-type": "application/json" });
  if (room < text.length) return cut(line, text.subarray(0, room), cutAfter);
  await written(line.response, text);
  line.response.end();
  return "answered";
}

/** How many bytes of this event may still be said. */
function roomFor(cutAfter: CutPoint | undefined, nth: number, said: number, length: number): number {
  if (cutAfter === undefined) return length;
  if ("events" in cutAfter) return nth < cutAfter.events ? length : 0;
  return Math.min(length, Math.max(0, cutAfter.bytes - said));
}

async function cut({ response }: Line, last: Buffer, cutAfter: CutPoint | undefined): Promise<"cut"> {
  response.flushHeaders();
  if (last.length > 0) await written(response, last);
  if (cutAfter?.politely === true) response.end();
  else response.destroy();
  return "cut";
}

function open(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
}

/** Resolves when the bytes have left: a line dropped earlier would drop them too. Rejects when the client has gone. */
export function written(response: ServerResponse, text: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
