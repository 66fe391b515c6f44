import type { ScriptedCall } from "../../../records/script.ts";
import { DOCUMENTS, documentText, RULES } from "../project.ts";
import { type Line, onStage, type Stage, type Theatre } from "../stage.ts";

const AT_ONCE = 5;
const WANTED = "docs/order-03.md";
/** How a request says where to find what it leaves out, and how that list tells of an output. */
const LISTED = /listed at (holdfast:\/\/[a-z0-9]+)/;
const OUTPUT = /(holdfast:\/\/[a-z0-9]+) read_file docs\/order-03\.md · success/;

/** A conversation grows, and is then read by a model with a quarter of the room. */
export async function squeezed(theatre: Theatre): Promise<void> {
  const { full, around } = await onStage(theatre, (stage) => readEverything(theatre, stage));
  const window = Math.floor((full / 4 + around) / 0.75); // a quarter is for the answer
  await onStage(theatre, (stage) => readLittle(theatre, stage, full), { window });
}

async function readLittle({ show }: Theatre, stage: Stage, full: number): Promise<void> {
  let [asked, tokens] = ["", Number.POSITIVE_INFINITY];
  const { outcomes } = await stage.turn(`What is in ${WANTED}?`, [
    (request) => {
      asked = request;
      tokens = stage.session.context.view?.tokens ?? tokens;
      return { text: "It was left out. What was?", calls: [recall(handleIn(request, LISTED), WANTED)] };
    },
    (request) => ({ text: "That one.", calls: [recall(handleIn(request, OUTPUT))] }),
    { text: "Forty positions." },
  ]);
  show.note("tokensBefore", full);
  show.note("tokensAfter", tokens);
  await show.claim(`the request went from ${full} tokens to ${tokens}: a quarter, or less`, tokens * 4 <= full);
  const ruled = RULES.every(({ text }) => asked.includes(text));
  await show.claim(`all ${RULES.length} rules of the project are in it, word for word`, ruled);
  const [, oneLine = ""] = documentText(WANTED).split("\n");
  await show.claim(`${WANTED} is no longer in it`, !asked.includes(oneLine));
  const recalled = outcomes.at(-1)?.output === documentText(WANTED);
  await show.claim("a pointer is, and recall returns the document, byte for byte", recalled);
  await show.claim("the strict provider accepted every request", stage.provider.refused.length === 0);
}

async function readEverything(
  { show }: Theatre,
  stage: Stage,
): Promise<{ readonly full: number; readonly around: number }> {
  const { session, holdfast } = stage;
  const lines: Line[] = [];
  for (let at = 0; at < DOCUMENTS.length; at += AT_ONCE) {
    const paths = DOCUMENTS.slice(at, at + AT_ONCE);
    lines.push({ calls: paths.map((path) => ({ name: "read_file", input: { path } })) });
  }
  await stage.turn("Read all the orders.", [...lines, { text: "I have read them all." }], { quietly: true });
  show.text(`The agent reads ${DOCUMENTS.length} orders, ${AT_ONCE} at a time. All of it is in its request now.`);
  const seen = await (await holdfast.look(session.id)).view();
  return { full: session.context.view?.tokens ?? 0, around: seen?.around ?? 0 };
}

function recall(handle: string, grep?: string): ScriptedCall {
  return { name: "recall", input: { handle, ...(grep === undefined ? {} : { grep }) } };
}

/** A model reads what stands where; this one looks for it. */
function handleIn(request: string, place: RegExp): string {
  return place.exec(request)?.[1] ?? "";
}
