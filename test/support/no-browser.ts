import { test } from "node:test";
import { noChromium } from "./chromium.ts";

test("browser tests", { skip: noChromium });
