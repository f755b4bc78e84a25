// Runs a WebAssembly program in Node with this machine's variables: node .ci/wasi.mjs PROGRAM [ARGUMENTS]
// It sees the folder above this repository, where the test models are, and that for temporary files.
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const folders = [resolve(import.meta.dirname, "../.."), tmpdir()];
const wasi = new WASI({
    version: "preview1",
    args: [program, ...args],
    // The program knows no working folder.
    env: { ...process.env, PWD: undefined },
    preopens: Object.fromEntries(folders.map((folder) => [folder, folder])),
    returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
process.exitCode = wasi.start(instance);
