import { type Line, setStage } from "./stage.ts";

/** What the child tells its parent, after the commit returned and not before. */
export interface ChildSays {
  readonly said: "closed" | "opened";
  readonly tool: string;
  readonly what: string;
  /** The newest acknowledged record. */
  readonly seq: number;
}

export const QUESTION = "Now the other two files, and run the tests.";
const edit = (path: string) => ({ name: "edit_file", input: { path, find: "total", replace: "sum" } });

const LINES: readonly Line[] = [
  { text: "The report.", calls: [edit("src/report.ts")] },
  { text: "The test.", calls: [edit("src/cart.test.ts")] },
  { text: "And now the tests.", calls: [{ name: "run_tests", input: {} }] },
];

/** A turn in a process of its own, because it will be killed while the tests run. */
export async function runChild(workspace: string, say: (line: ChildSays) => void): Promise<never> {
  const seq = () => stage.session.journal.head.seq;
  const call = async (tool: string, what: string) => say({ said: "closed", tool, what, seq: seq() });
  const stage = await setStage({ workspace, lives: 50, show: { quote() {}, call } });
  stage.witness.tests = async () => {
    say({ said: "opened", tool: "run_tests", what: "has begun to write its report …", seq: seq() });
    await new Promise<void>(() => setInterval(() => {}, 1_000)); // until it is killed
  };
  await stage.turn(QUESTION, LINES);
  throw new Error("the demo's child should have been killed");
}
