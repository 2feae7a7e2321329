/** Something that waits until it is let through. */
export class Gate {
  #open!: () => void;
  readonly passed: Promise<void>;

  constructor() {
    this.passed = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }
}

/** How long cases wait for anything, in milliseconds: enough for a machine that has much else to do. */
export const patience = 60_000;

/** Waits until a condition holds. What it says last is in the error. */
export async function until<T>(what: string, is: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = Date.now() + patience;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const value = await is();
      if (value) {
        return value as NonNullable<T>;
      }
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  if (last instanceof Error) {
    last.message = `it did not come: ${what}\n${last.message}`;
    throw last; // with the difference that an assertion has
  }
  throw new Error(`it did not come: ${what}\n${JSON.stringify(last)}`);
}
