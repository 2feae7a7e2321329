// The attachments of a turn: those of files, and those that a turn has.
import { SpoolError } from "../error.js";
import type { Client } from "../types.js";
import type { ViewMessage } from "../view.js";
import type { Attachment, Part } from "../wire.js";

/** A data URL may have no more. */
const most = 5 << 20;

const isFile = (one: Attachment | File): one is File => typeof File !== "undefined" && one instanceof File;

/** The attachments as they are shown until the files are read. */
export function announced(given: readonly (Attachment | File)[]): readonly Attachment[] {
  return given.map((one) => (isFile(one) ? { url: "data:,", name: one.name, mediaType: typeOf(one) } : one));
}

/** Makes attachments of files. A large one is uploaded to the thread. */
export function attached(
  client: Client,
  threadId: string | null,
  given: readonly (Attachment | File)[],
): Promise<Attachment[]> {
  return Promise.all(
    given.map(async (one): Promise<Attachment> => {
      if (!isFile(one)) return one;
      const { name, size } = one;
      const mediaType = typeOf(one);
      if (size <= most) return { url: await dataURL(one, mediaType), name, mediaType };
      if (threadId === null) {
        const text = `${name} has more than 5 MiB: send it with the second message, when there is a thread to take it`;
        throw new SpoolError("invalid", text, { field: "attachments" });
      }
      return { artifactId: (await client.upload(threadId, one, { name, mediaType })).id, name, mediaType };
    }),
  );
}

/** The attachments that a turn has. */
export function attachmentsOf({ content }: ViewMessage): Attachment[] {
  const parts = Array.isArray(content) ? (content as readonly Part[]) : [];
  return parts.flatMap((part): Attachment[] => {
    const { image, file, fileName, mimeType: mediaType } = part as Record<string, string | undefined>;
    const place = part.type === "image" ? image : part.type === "file" ? file : undefined;
    if (!place) return [];
    const at = place.startsWith("artifact:") ? { artifactId: place.slice("artifact:".length) } : { url: place };
    return [{ ...at, ...(mediaType && { mediaType }), ...(fileName && { name: fileName }) } as Attachment];
  });
}

async function dataURL(file: File, type: string): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return `data:${type};base64,${btoa(text)}`;
}

const known: Record<string, string> = { md: "text/markdown", csv: "text/csv", json: "application/json" };

/** The type of a file. A browser does not know that of every text. */
function typeOf({ name, type }: File): string {
  const end = name.split(".").at(-1)?.toLowerCase() ?? "";
  return type || known[end] || (/^(txt|log)$/.test(end) ? "text/plain" : "application/octet-stream");
}
