import type { HostStat } from "./port.ts";
import type { Walked } from "./walk.ts";

/** What was found below some folders, as it crosses from one thread to another: tens of thousands of objects would not. */
export interface PackedWalk {
  /** Paths, parted by what no path can hold. */
  readonly paths: string;
  readonly numbers: Float64Array;
  readonly exact: BigInt64Array;
  readonly uncovered: Walked["uncovered"];
  readonly unnamed: Walked["unnamed"];
}

const KINDS: readonly HostStat["kind"][] = ["file", "folder", "link", "other"];
const NUMBERS = 6;
const EXACT = 4;

export function packed({ entries, uncovered, unnamed }: Walked): PackedWalk {
  const numbers = new Float64Array(entries.size * NUMBERS);
  const exact = new BigInt64Array(entries.size * EXACT);
  let [at, big] = [0, 0];
  for (const stat of entries.values()) {
    numbers[at] = KINDS.indexOf(stat.kind);
    numbers[at + 1] = stat.size;
    numbers[at + 2] = stat.mode;
    numbers[at + 3] = stat.uid;
    numbers[at + 4] = stat.gid;
    numbers[at + 5] = stat.links;
    exact[big] = stat.dev;
    exact[big + 1] = stat.ino;
    exact[big + 2] = stat.mtimeNs;
    exact[big + 3] = stat.ctimeNs;
    at += NUMBERS;
    big += EXACT;
  }
  return { paths: [...entries.keys()].join("\0"), numbers, exact, uncovered, unnamed };
}

export function* unpacked({ paths, numbers, exact }: PackedWalk): Generator<readonly [string, HostStat]> {
  const names = paths === "" ? [] : paths.split("\0");
  for (let nth = 0; nth < names.length; nth += 1) {
    const [at, big] = [nth * NUMBERS, nth * EXACT];
    const stat: HostStat = {
      kind: KINDS[numbers[at] as number] as HostStat["kind"],
      dev: exact[big] as bigint,
      ino: exact[big + 1] as bigint,
      size: numbers[at + 1] as number,
      mode: numbers[at + 2] as number,
      uid: numbers[at + 3] as number,
      gid: numbers[at + 4] as number,
      links: numbers[at + 5] as number,
      mtimeNs: exact[big + 2] as bigint,
      ctimeNs: exact[big + 3] as bigint,
    };
    yield [names[nth] as string, stat];
  }
}
