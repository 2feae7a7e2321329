// What the rows of an inbox begin with: what makes a question another one than those beside it.
import type { Question } from "@spool/client";
import { isObject } from "../thread/schema.js";
import { glance, visible } from "../ui/format.js";

type Asked = Pick<Question, "toolName" | "arguments" | "argumentsPreview">;

/** How much of the arguments a row has. */
const length = 120;

/** Returns the beginning of a question's row: its arguments, first those that others of the same tool do not have. */
export function leadOf(question: Asked, all: readonly Asked[]): string {
  const { arguments: args, argumentsPreview, toolName } = question;
  if (argumentsPreview !== undefined || !isObject(args)) {
    return visible(argumentsPreview ?? glance(args, length));
  }
  const others = all.filter((one) => one !== question && one.toolName === toolName).map((one) => one.arguments);
  const same = (name: string) =>
    others.length > 0 &&
    others.every((other) => isObject(other) && glance(other[name], length) === glance(args[name], length));
  const names = Object.keys(args);
  const sorted = [...names.filter((name) => !same(name)), ...names.filter(same)];
  return sorted
    .map((name) => `${visible(name)}: ${glance(args[name], length)}`)
    .join(", ")
    .slice(0, 2 * length);
}
