import { useDirection } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { directionOf } from "../../shared/languages.ts";
import { activateLanguage } from "./language.ts";

/**
 * Shows the app in the account's language as soon as it changes, here or in another browser. The server chose the first one.
 * @param language null: the browser's.
 */
export function useAccountLanguage(language: string | null): void {
  const client = useQueryClient();
  const { setDirection } = useDirection();
  const shown = useRef(language);
  useEffect(() => {
    if (shown.current === language) return;
    shown.current = language;
    void activateLanguage(language === null ? navigator.languages : [language]).then((active) => {
      setDirection(directionOf(active));
      // The server writes notifications and the names of jobs in the reader's language; reasons of failed uploads are translated as
      // they are loaded.
      for (const queryKey of [["notifications"], ["system"], ["uploads"]])
        void client.invalidateQueries({ queryKey });
    });
  }, [language, setDirection, client]);
}
