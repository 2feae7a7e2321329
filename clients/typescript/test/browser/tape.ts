// Answers that a test writes while the model speaks.
import type { Answer, Asked, Script } from "./model.js";

type Piece = (answer: Answer, asked: Asked) => Promise<void>;

/** One answer of the model. Each attempt hears it from the beginning, and waits for more until the end. */
export class Tape {
  readonly #pieces: Piece[] = [];
  #ended = false;
  #more: () => void = () => undefined;
  #waiting = new Promise<void>((resolve) => {
    this.#more = resolve;
  });

  say(text: string): this {
    return this.#add((answer) => answer.text(text));
  }

  think(text: string): this {
    return this.#add((answer) => answer.reasoning(text));
  }

  call(id: string, name: string, args: unknown): this {
    return this.#add((answer) => answer.call(id, name, args));
  }

  /** Breaks the connection the first time that somebody hears this. */
  cut(): this {
    let cut = false;
    return this.#add(async (answer) => {
      if (!cut) {
        cut = true;
        answer.cut();
      }
    });
  }

  end(): this {
    this.#ended = true;
    this.#wake();
    return this;
  }

  async play(asked: Asked, answer: Answer): Promise<void> {
    const gone = new Promise<void>((resolve) => asked.signal.addEventListener("abort", () => resolve()));
    for (let i = 0; !asked.signal.aborted; ) {
      const piece = this.#pieces[i];
      if (piece !== undefined) {
        await piece(answer, asked);
        i++;
      } else if (this.#ended) {
        return;
      } else {
        await Promise.race([this.#waiting, gone]);
      }
    }
    answer.cut();
  }

  #add(piece: Piece): this {
    this.#pieces.push(piece);
    this.#wake();
    return this;
  }

  #wake(): void {
    this.#more();
    this.#waiting = new Promise((resolve) => {
      this.#more = resolve;
    });
  }
}

/** Returns a script that plays the tapes of a prompt, one for each step. Other prompts are repeated. */
export function play(tapes: Record<string, Tape[]>): Script {
  return async (asked, answer) => {
    const tape = tapes[asked.prompt]?.[asked.step];
    if (tape !== undefined) {
      await tape.play(asked, answer);
    } else {
      await answer.text(`You said: ${asked.prompt}.`);
    }
  };
}
