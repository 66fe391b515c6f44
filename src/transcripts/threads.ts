import { countConversation } from "./counts.ts";
import { likelyList } from "./detect.ts";
import type { Format, Reading, Thread } from "./format.ts";
import { asList, isFields } from "../base/fields.ts";
import { at } from "./skeleton.ts";
import type { Path } from "../base/text/edit.ts";
import type { Conversation, Element } from "./transcript.ts";

export interface Place {
  readonly record: number;
  readonly line: number;
  readonly strict: boolean;
}

/** The conversations of one document. */
export function threadsOf(
  format: Format,
  document: unknown,
  place: Place,
  threads = format.threads(document),
): readonly Conversation[] {
  return threads.map(({ path, response, continues }) => {
    const read = format.reader();
    let count = 0;
    const element = (value: unknown, where: Path, open: boolean): readonly Element[] => {
      const reading: Reading | undefined = isFields(value) ? read(value, count++) : undefined;
      return reading === undefined ? [] : [{ ...place, path: where, open, reading }];
    };
    const elements = asList(at(document, ...path)).flatMap((value, nth) => element(value, [...path, nth], false));
    const answered = response === undefined ? undefined : at(document, ...response);
    const open = Array.isArray(answered)
      ? answered.flatMap((value, nth) => element(value, [...(response as Path), nth], true))
      : element(answered, response ?? [], true);
    const list = { record: place.record, path };
    return { list, elements: [...elements, ...open], ...(continues === undefined ? {} : { continues }) };
  });
}

/** What the format finds, or the likeliest list where the user named a format that finds nothing. */
export function threadsIn(format: Format, document: unknown): readonly Thread[] {
  const found = format.threads(document);
  const list = found.length === 0 ? likelyList(document) : undefined;
  return list === undefined ? found : [{ path: list }];
}

export function countStrict({ elements }: Conversation): ReturnType<typeof countConversation> {
  return countConversation(elements.filter(({ strict }) => strict).map(({ reading }) => reading));
}
