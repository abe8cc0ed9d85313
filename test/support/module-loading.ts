import { speedUpModuleLoading } from "../../server/platform/module-loading.ts";

/** Loaded before each test file, as every command and server does. */
speedUpModuleLoading();
