import { SpoolError } from "@spool/client";
import { notFound } from "next/navigation";
import { spool } from "../../spool";
import { Chat } from "./chat";

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  return <Chat snapshot={await snapshotOf((await params).id)} />;
}

async function snapshotOf(id: string) {
  try {
    return await spool().history(id);
  } catch (error) {
    if (error instanceof SpoolError && error.code === "not_found") {
      notFound();
    }
    throw error;
  }
}
