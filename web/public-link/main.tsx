import { createQueryClient } from "../app/query-client.ts";
import { render } from "../app/render.tsx";
import { PublicLinkPage } from "./app.tsx";
import { parseLinkUrl } from "./url.ts";

void render(<PublicLinkPage address={parseLinkUrl(window.location)} />, createQueryClient());
