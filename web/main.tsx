import { RouterProvider } from "@tanstack/react-router";
import { createQueryClient } from "./app/query-client.ts";
import { render } from "./app/render.tsx";
import { createAppRouter } from "./app/router.tsx";
import { measureScrollbar } from "./app/scrollbar.ts";

const queryClient = createQueryClient();
measureScrollbar();
void render(<RouterProvider router={createAppRouter(queryClient)} />, queryClient);
