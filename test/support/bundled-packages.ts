import { useBundledPackages } from "../../server/platform/bundled-packages.ts";

/** Loaded before each test file, as every command and server does. */
useBundledPackages();
