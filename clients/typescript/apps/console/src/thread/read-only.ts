import { createContext, useContext } from "react";

/** Whether the thread can only be read, because it is a file. */
export const ReadOnly = createContext(false);

export function useReadOnly(): boolean {
  return useContext(ReadOnly);
}
