// Files of a thread. Their data come with a signed address of the same server, as files to save; images are shown on request.
import { useThread } from "@spool/react";
import { type ReactNode, useState } from "react";
import { base, client } from "../session.js";
import { bytes } from "../ui/format.js";
import { messageOf } from "../ui/parts.js";
import { isObject } from "./schema.js";

export interface ArtifactInfo {
  readonly id: string;
  readonly name?: string;
  readonly mediaType?: string;
  readonly size?: number;
}

const most = 20;

/** Returns the artifacts that a result names, at any depth. It looks at the beginning of large results only. */
export function artifactsOf(value: unknown): ArtifactInfo[] {
  const found = new Map<string, ArtifactInfo>();
  let left = 2000;
  const look = (at: unknown): void => {
    if (typeof at !== "object" || at === null || found.size >= most || left-- <= 0) {
      return;
    }
    if (isObject(at)) {
      const artifact = at.artifact;
      if (isObject(artifact) && typeof artifact.id === "string") {
        found.set(artifact.id, artifact as unknown as ArtifactInfo);
      }
    }
    for (const inner of Object.values(at)) {
      look(inner);
    }
  };
  look(value);
  return [...found.values()];
}

/** A signed address at the server of the page. Others may know that server by another name, which the page must not ask. */
function here(url: string): string {
  return base + url.slice(url.indexOf("/api/agent/artifacts/"));
}

export function ArtifactView({ artifact }: { artifact: ArtifactInfo }): ReactNode {
  const { threadId } = useThread();
  const [shown, setShown] = useState("");
  const [problem, setProblem] = useState("");
  const image = artifact.mediaType?.startsWith("image/") === true;
  const withUrl = async (use: (url: string) => void) => {
    try {
      setProblem("");
      use(here((await client.artifactUrl(threadId ?? "", artifact.id, { expiresIn: "10m" })).url));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const save = () =>
    withUrl((url) => {
      const link = document.createElement("a");
      link.href = url;
      link.download = artifact.name ?? artifact.id;
      link.click();
    });
  return (
    <div className="artifact">
      <span className="artifact-name">{artifact.name ?? artifact.id}</span>
      <span className="faint">
        {artifact.mediaType}
        {artifact.size === undefined ? "" : `, ${bytes(artifact.size)}`}
      </span>
      {image && shown === "" && (
        <button type="button" className="quiet" onClick={() => withUrl(setShown)}>
          Show
        </button>
      )}
      <button type="button" className="quiet" onClick={save}>
        Save
      </button>
      {problem !== "" && <span className="bad">{problem}</span>}
      {shown !== "" && (
        <img src={shown} alt={artifact.name ?? "image"} onError={() => setProblem("It cannot be shown.")} />
      )}
    </div>
  );
}
