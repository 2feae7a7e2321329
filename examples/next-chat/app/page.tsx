import Link from "next/link";
import { spool } from "./spool";

export const dynamic = "force-dynamic";

export default async function Page() {
  const { threads } = await spool().threads({ limit: 20 });
  return (
    <main>
      <Link href="/threads/new">A new thread</Link>
      <ul>
        {threads.map(({ id, title, state }) => (
          <li key={id}>
            <Link href={`/threads/${id}`}>{title}</Link> {state}
          </li>
        ))}
      </ul>
    </main>
  );
}
