import { HoldfastError } from "../base/errors.ts";
import type { DriverDeps, DriverName, Enclosure, ProtectionDriver } from "./driver.ts";
import { overlayDriver } from "./overlay.ts";
import { portableDriver } from "./portable.ts";

/** Which driver protects commands, and why it was chosen. */
export interface DriverChoice {
  readonly driver: DriverName;
  readonly why: string;
}

/** Tries the better driver when the first command comes, and keeps to what it found out. */
export class Drivers {
  readonly #wanted: "auto" | DriverName;
  #chosen: DriverChoice | undefined;

  constructor(wanted: "auto" | DriverName = "auto") {
    if (!["auto", "overlay", "portable"].includes(wanted))
      throw new HoldfastError("BAD_OPTION", { option: "exec.driver", value: String(wanted) });
    this.#wanted = wanted;
  }

  /** What was chosen; undefined before anything ran. */
  get chosen(): DriverChoice | undefined {
    return this.#chosen;
  }

  async open(deps: DriverDeps, id: string): Promise<Enclosure> {
    if (this.#wanted === "portable") return this.#settle(portableDriver, "it was asked for", deps, id);
    if (this.#chosen?.driver === "portable") return portableDriver.open(deps, id);
    try {
      const why = this.#wanted === "overlay" ? "it was asked for" : "it works here";
      return await this.#settle(overlayDriver, why, deps, id);
    } catch (error) {
      if (HoldfastError.is(error)) throw error;
      const refused = error instanceof Error ? error.message : String(error);
      // Once it has worked, a failure is a failure: another protection in the middle would promise something else.
      if (this.#wanted === "overlay" || this.#chosen !== undefined)
        throw new HoldfastError("EXEC_NO_DRIVER", { driver: "overlay", refused }, { cause: error });
      return this.#settle(portableDriver, `overlay was refused: ${refused}`, deps, id);
    }
  }

  async #settle(driver: ProtectionDriver, why: string, deps: DriverDeps, id: string): Promise<Enclosure> {
    const enclosure = await driver.open(deps, id);
    this.#chosen ??= { driver: driver.name, why };
    return enclosure;
  }
}
