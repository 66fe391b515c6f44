import { OURS } from "./apply.ts";
import type { HostRoot } from "./folders.ts";
import type { Intent } from "./intent.ts";
import type { Places } from "./meta.ts";
import { waitingPlaces } from "./new-trees.ts";
import type { Rescue } from "./rescue.ts";

/** What a session that no longer exists has left unfinished in a folder. */
export interface GivenUp {
  readonly session: string;
  /** The call whose change it was. */
  readonly callId?: string;
  /** What it was about to change. `kept`: the name, in rescue, of new content that was not in place yet. */
  readonly paths: readonly { readonly path: string; readonly kept?: string }[];
}

interface Waiting {
  readonly path: string;
  readonly kept: string;
  /** Where the content is, and under which name. */
  readonly folder: readonly string[];
  readonly name: string;
}

/** What giving a plan up comes to. Changes nothing. */
export function planGivingUp(root: HostRoot, intent: Intent): GivenUp {
  const { session, callId, steps } = intent;
  const kept = new Map(waitingIn(root, intent).map((one) => [one.path, one.kept]));
  const paths = steps.map(({ path }) => {
    const name = kept.get(path);
    return name === undefined ? { path } : { path, kept: name };
  });
  return { session, ...(callId === undefined ? {} : { callId }), paths };
}

/**
 * Gives a plan up of which nobody can tell any more whether it was decided. What is in place stays there, and content that
 * still waits goes to rescue: nothing is lost, whatever was decided. Returns the folders from which something went.
 */
export function moveToRescue(root: HostRoot, rescue: Rescue, places: Places, intent: Intent): readonly string[] {
  return waitingIn(root, intent).map(({ path, kept, folder, name }) => {
    rescue.note(kept, { path, whose: "ours" });
    root.inside(folder, (waiting) => root.port.rename(waiting.at(name), places.rescue.at(kept)));
    return folder.join("/");
  });
}

function waitingIn(root: HostRoot, intent: Intent): readonly Waiting[] {
  const placesOf = waitingPlaces(intent);
  return intent.steps.flatMap((step): Waiting[] => {
    for (const place of placesOf(step)) {
      const [folder, name] = [place.slice(0, -1), place.at(-1) ?? ""];
      if (root.stat(place) !== undefined) return [{ path: step.path, kept: `${step.aside}${OURS}`, folder, name }];
    }
    return [];
  });
}
