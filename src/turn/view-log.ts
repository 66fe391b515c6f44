import type { JsonObject } from "../base/json.ts";
import { type Calibration, calibrate, UNCALIBRATED } from "../context/tokens/calibrate.ts";
import type { ChosenLevels } from "../context/record.ts";
import type { Reclaim } from "../context/view.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { BodyOf } from "../records/kinds.ts";

/** What a request's record tells beside the levels of its pages. */
export interface ViewNotes {
  /** Tokens of the whole request as they were counted, to be compared with what the provider reports. */
  readonly counted: number;
  /** Pinned rules, and the page each of them stands behind. */
  readonly beside: Readonly<Record<string, string>>;
  /** Of `counted`, what stood around the conversation. */
  readonly around?: number;
  /** How many tokens the conversation might take. */
  readonly budget?: number;
  /** Set when levels were chosen anew for this request. */
  readonly reclaim?: Reclaim;
}

interface Chosen {
  readonly seq: number;
  readonly body: BodyOf<"view-chosen">;
}

/** What the journal says about views: enough to go on from the last one, and to know how far counts are off. */
export class ViewLog {
  calibration: Calibration = UNCALIBRATED;
  #chosen: Chosen[] = [];
  #counted = 0;

  /** Answers true when what was known of the last view no longer holds. */
  take(entry: JournalEntry): boolean {
    switch (entry.kind) {
      case "view-chosen": {
        const levels = entry.levels as unknown as ChosenLevels & Partial<ViewNotes>;
        this.#chosen.push({ seq: entry.seq, body: entry });
        this.#counted = levels.counted ?? 0;
        return false;
      }
      case "model-said": {
        const reported = Number((entry.usage as JsonObject | undefined)?.["input"] ?? 0);
        this.calibration = calibrate(this.calibration, { counted: this.#counted, reported });
        return false;
      }
      case "rewound":
        if (!entry.scope.includes("conversation")) return false;
        this.#chosen = this.#chosen.filter(({ seq }) => seq <= entry.to);
        return true;
      default:
        return false;
    }
  }

  /** From the last time that all levels were written down. */
  get records(): readonly BodyOf<"view-chosen">[] {
    const from = this.#chosen.findLastIndex(({ body }) => (body.levels as unknown as ChosenLevels).from === 0);
    return from === -1 ? [] : this.#chosen.slice(from).map(({ body }) => body);
  }

  get beside(): ViewNotes["beside"] {
    const last = this.#chosen.at(-1)?.body.levels as unknown as Partial<ViewNotes> | undefined;
    return last?.beside ?? {};
  }
}
