// Files of a turn that is being written.
import type { Attachment } from "@spool/client";

/** Larger files are uploaded to the thread first, as a data URL may have no more. */
const most = 5 << 20;

/** A file of the composer. */
export interface Attaching {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  readonly attachment?: Attachment;
  readonly problem?: string;
}

/** Makes an attachment of a file. */
export async function attach(file: File, upload: ((file: File) => Promise<Attachment>) | null): Promise<Attachment> {
  if (file.size > most) {
    if (upload === null) {
      throw new Error("it is larger than 5 MiB; send a first message, then the server can take it");
    }
    return upload(file);
  }
  return { url: await dataURL(file), name: file.name };
}

function dataURL(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error("it cannot be read"));
    // A browser does not know the type of every text.
    const type = file.type || typeOf(file.name);
    reader.readAsDataURL(type === "" ? file : new Blob([file], { type }));
  });
}

function typeOf(name: string): string {
  const known: Record<string, string> = {
    md: "text/markdown",
    txt: "text/plain",
    log: "text/plain",
    csv: "text/csv",
    json: "application/json",
  };
  return known[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "";
}
