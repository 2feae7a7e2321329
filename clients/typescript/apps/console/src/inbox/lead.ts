// What the rows of an inbox begin with: what makes a question another one than those beside it.
import type { Question } from "@spool/client";
import { isObject } from "../thread/schema.js";
import { glance, visible } from "../ui/format.js";

type Asked = Pick<Question, "toolName" | "arguments" | "argumentsPreview">;

/** How much of the arguments a row has. */
const length = 120;

/** Returns the beginning of a question's row: its arguments, first those that the fewest others of its tool have too. */
export function leadOf(question: Asked, all: readonly Asked[]): string {
  const { arguments: args, argumentsPreview, toolName } = question;
  if (argumentsPreview !== undefined || !isObject(args)) {
    return visible(argumentsPreview ?? glance(args, length));
  }
  const others = all.filter((one) => one !== question && one.toolName === toolName).map((one) => one.arguments);
  return Object.keys(args)
    .map((name) => {
      const value = glance(args[name], length);
      const shared = others.filter((other) => isObject(other) && glance(other[name], length) === value).length;
      return { text: `${visible(name)}: ${value}`, shared };
    })
    .sort((a, b) => a.shared - b.shared)
    .map(({ text }) => text)
    .join(", ")
    .slice(0, 2 * length);
}
