import { type McpClient, TOOLS_CHANGED } from "./vendor.ts";

type Listener = () => Promise<void>;
type Handler = NonNullable<McpClient["fallbackNotificationHandler"]>;

/** One after the other, and all of them: who throws keeps nobody else from their turn, and is told when all have had it. */
export async function each<T>(all: Iterable<T>, turn: (one: T) => unknown): Promise<void> {
  const thrown: unknown[] = [];
  for (const one of all)
    try {
      await turn(one);
    } catch (error) {
      thrown.push(error);
    }
  if (thrown.length > 1) throw new AggregateError(thrown, thrown.map(String).join("; "));
  if (thrown.length === 1) throw thrown[0];
}

const known = new WeakMap<McpClient, Listeners>();

/** Calls `listener` whenever the client's server says that its tools changed, until the returned function is called. */
export function onToolsChanged(client: McpClient, listener: Listener): () => void {
  const listeners = known.get(client) ?? new Listeners(client);
  known.set(client, listeners);
  return listeners.add(listener);
}

/**
 * Everybody here who listens to one client, behind one handler: of two handlers that each put back what they had found, the
 * one that is left first would be put back by the other. Whoever listened before goes on hearing everything.
 */
class Listeners {
  readonly #client: McpClient;
  readonly #all = new Set<Listener>();
  #handler: Handler | undefined;
  #unlisten: () => void = () => {};

  constructor(client: McpClient) {
    this.#client = client;
  }

  add(listener: Listener): () => void {
    if (this.#all.size === 0) this.#listen();
    this.#all.add(listener);
    return () => {
      if (this.#all.delete(listener) && this.#all.size === 0) this.#unlisten();
    };
  }

  #listen(): void {
    const client = this.#client;
    const before = client.fallbackNotificationHandler;
    const ours = async (notification: { readonly method?: string }) => {
      // An earlier one of ours, which somebody has put their own over, only hands on.
      const listeners = notification.method === TOOLS_CHANGED && this.#handler === ours ? this.#all : [];
      await each([...listeners, async () => before?.(notification as never)], (hear) => hear());
    };
    this.#handler = ours;
    client.fallbackNotificationHandler = ours;
    this.#unlisten = () => {
      // Whoever listens through ours by now goes on doing so.
      if (client.fallbackNotificationHandler === ours) client.fallbackNotificationHandler = before;
    };
  }
}
