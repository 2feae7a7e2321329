// node scripts/install.mjs FOLDER
//
// Does what a new user does: takes a project as "npm create vite" makes one (test/install/app), installs the tarballs that
// pack.mjs has put into the folder, pastes the configuration and each component of packages/react/README.md, and builds.
// The project is left in FOLDER/app, with the last component. A second project, in FOLDER/react18, has React 18.2, and
// runs a page. Exits with 1 when something fails, and with 3 when npm's registry does not answer.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
if (argv[2] === undefined) {
  console.error("usage: node scripts/install.mjs FOLDER");
  exit(2);
}
const folder = resolve(argv[2]);
const tarballs = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
try {
  await Promise.all([newest(), oldest()]);
} catch (error) {
  console.error(`${error.stack}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  exit(error.unreachable ? 3 : 1);
}

async function newest() {
  const app = join(folder, "app");
  rmSync(app, { recursive: true, force: true });
  cpSync(join(root, "test/install/app"), app, { recursive: true });
  await install(app);
  const readme = readFileSync(join(app, "node_modules/@spool/react/README.md"), "utf8");
  const components = [...readme.matchAll(/^```tsx\n(\/\/ src\/App\.tsx[\s\S]*?)^```/gm)]
    .map(([, code]) => code)
    .reverse();
  if (components.length < 2) {
    throw new Error("the README of @spool/react has no components for src/App.tsx");
  }
  if (readFileSync(join(root, "../../examples/vite-chat/src/App.tsx"), "utf8") !== components[0]) {
    throw new Error("examples/vite-chat/src/App.tsx is not the last component of the README of @spool/react");
  }
  const [, config] = readme.match(/^```ts\n(\/\/ vite\.config\.ts[\s\S]*?)^```/m) ?? [];
  if (config === undefined) {
    throw new Error("the README of @spool/react has no vite.config.ts");
  }
  writeFileSync(join(app, "vite.config.ts"), config);
  for (const component of components) {
    writeFileSync(join(app, "src/App.tsx"), component);
    await run("npm", ["run", "build"], { cwd: app });
    if (!existsSync(join(app, "dist/index.html"))) {
      throw new Error("nothing was built");
    }
  }
  console.log(`${app}: ${components.length} components of the README build`);
}

/** The oldest React that @spool/react takes. */
async function oldest() {
  const old = join(folder, "react18");
  rmSync(old, { recursive: true, force: true });
  mkdirSync(old);
  writeFileSync(join(old, "package.json"), '{"private": true, "type": "module"}');
  await install(old, "react@18.2.0", "react-dom@18.2.0");
  cpSync(join(root, "test/install/react18.mjs"), join(old, "react18.mjs"));
  const { stdout } = await run("node", ["react18.mjs", join(root, "package.json")], { cwd: old });
  console.log(stdout);
}

/** Installs the tarballs, and what a project has besides. */
async function install(cwd, ...names) {
  const files = tarballs.map((file) => join(folder, file));
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...files, ...names];
  try {
    await run("npm", args, { cwd });
  } catch (error) {
    error.unreachable = /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network/i.test(error.stderr);
    throw error;
  }
}
