import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Stadtwerke Elmsrode: Bojengröße und Angebot für die Talsperre",
  daysAgo: 20,
  startsAt: "08:00",
  meetingType: "Sales Call",
  recorders: ["lukas.brandtner@wrackline.example"],
  participants: [
    { key: "lukas", name: "Lukas Brandtner", email: "lukas.brandtner@wrackline.example" },
    { key: "jutta", name: "Dr. Jutta Remmelmann", email: "j.remmelmann@stadtwerke-elmsrode.example" },
    { key: "holger", name: "Holger Dankwart", email: "h.dankwart@stadtwerke-elmsrode.example" },
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
  ],
  team: "Customers",
  sharedWithUsers: ["marit.aalvik@wrackline.example"],
  shareState: "restricted",
  tags: ["elmsrode", "größe", "angebot", "trinkwasser"],
  language: "de",
  media: "video",
  slides: [
    {
      from: "Die große kostet elftausendvierhundert",
      until: "Das ist Zufall, ich kannte",
      by: "lukas",
      title: "Angebot in Euro (Ausschreibung ab 40000)",
      chart: {
        kind: "bars",
        unit: "",
        bars: [
          { label: "2 große", value: 22800 },
          { label: "1 kleine", value: 8900 },
          { label: "Kette", value: 2600 },
          { label: "Rest", value: 4800 },
          { label: "zusammen", value: 39100, highlighted: true },
        ],
      },
    },
  ],
  segments: timed({ minutes: 7 }, [
    [
      "lukas",
      "Guten Morgen, Frau Doktor Remmelmann, guten Morgen, Herr Dankwart. Gwen hört still mit, sie versteht mehr Deutsch, als sie zugibt. Die Aufzeichnung läuft, wie besprochen.",
    ],
    [
      "jutta",
      "Guten Morgen. Den Doktor lassen wir bitte weg, sonst fühle ich mich wie auf dem Friedhof. Herr Dankwart ist vom Einkauf und passt auf, dass ich nicht zu begeistert bin.",
    ],
    ["holger", "Guten Morgen. Ich bin grundsätzlich nicht begeistert, das spart allen Zeit."],
    [
      "lukas",
      "Dann fange ich mit dem Unangenehmen an. Ich hatte Sie ja vor drei Wochen angerufen, wegen der Verschiebung. Der neue Termin steht noch, in gut drei Wochen liefern wir aus.",
    ],
    ["jutta", "Sie hatten von Wasser im Gehäuse gesprochen. Ist das behoben oder ist das nur anders?"],
    [
      "lukas",
      "Die Ursache war eine Nut für den Dichtring, die um fünfzehn Hundertstel zu tief war. Die Deckel sind neu gefertigt, jeder einzeln gemessen und nummeriert. Seit fünf Tagen laufen die ersten im Becken unter Druckwechsel, bisher ist alles trocken.",
    ],
    ["jutta", "Fünf Tage sind noch nicht viel."],
    [
      "lukas",
      "Nein, und wir liefern auch erst, wenn es vierzehn sind. Wenn eine einzige feucht wird, rufe ich Sie am selben Tag an, das kann ich versprechen.",
    ],
    ["holger", "Das schreibe ich mir auf. Mit Uhrzeit."],
    [
      "lukas",
      "Gern. Frau Remmelmann, Sie wollten heute vor allem über die Größe reden. Sechzig oder neunzig Zentimeter Durchmesser.",
    ],
    [
      "jutta",
      "Genau. Wir haben eine Talsperre mit einundzwanzig Millionen Kubikmetern, an der Mauer ist sie achtunddreißig Meter tief. Ich möchte an drei Stellen messen, an der Mauer, in der Mitte und am Zulauf. Die Frage ist, ob mir die kleine Boje reicht.",
    ],
    [
      "lukas",
      "Die Sensoren sind in beiden dieselben. Der Unterschied ist Auftrieb und Solarfläche. Die kleine trägt achtzehn Kilo unter sich, die große fünfundvierzig.",
    ],
    [
      "jutta",
      "An der Mauer will ich eine Kette mit Temperaturfühlern bis auf dreißig Meter. Was wiegt so eine Kette?",
    ],
    [
      "lukas",
      "Im Wasser etwa neun Kilo, dazu das Ankerseil, das je nach Wind zieht. Das ginge rechnerisch mit der kleinen. Ich würde es trotzdem nicht tun, wegen des Eises.",
    ],
    [
      "jutta",
      "Sehr gut, dass Sie das selbst sagen. Uns friert der Zulauf in den meisten Wintern zu, die Mitte in jedem dritten. Was passiert mit einer Boje im Eis?",
    ],
    [
      "lukas",
      "Die große wird angehoben, weil der Rumpf unten konisch ist. Die kleine ist zylindrisch, die wird eingeklemmt. Kaputt geht sie meistens nicht, aber sie kippt, und dann misst der Sauerstoff die Luft.",
    ],
    ["holger", "Und was heißt meistens, in Stück?"],
    [
      "lukas",
      "Von einundvierzig kleinen, die wir in gefrierenden Gewässern haben, waren im letzten Winter drei beschädigt. Von den großen keine, aber das sind auch nur zwölf.",
    ],
    ["holger", "Zwölf ist keine Statistik, aber immerhin ehrlich."],
    [
      "jutta",
      "Dann am Zulauf groß. Und an der Mauer auch, wegen der Kette. In der Mitte könnte ich mit der kleinen leben, dort brauche ich nur die Oberfläche, wegen der Blaualgen.",
    ],
    [
      "lukas",
      "Darf ich widersprechen, obwohl ich damit mehr verkaufe? Wenn die Mitte jedes dritte Jahr zufriert, haben Sie jedes dritte Jahr die Sorge. Ich würde eher die kleine nehmen und sie im Winter herausholen.",
    ],
    ["jutta", "Das ist doch das Gegenteil von mehr verkaufen."],
    [
      "lukas",
      "Stimmt, ich habe mich verrechnet. Aber im Ernst, die kleine heben zwei Leute ins Boot. Für die große brauchen Sie einen Kran oder vier Leute und schlechte Laune.",
    ],
    [
      "jutta",
      "Wir haben einen Kran an der Mauer und schlechte Laune im ganzen Betrieb. Aber gut, in der Mitte klein und im Winter raus. Das gefällt mir, das kann die Bootsmannschaft machen.",
    ],
    [
      "holger",
      "Dann hätten wir also zwei große und eine kleine. Was kostet mich das? Und bitte mit allem, auch mit dem, was Sie später noch finden.",
    ],
    [
      "lukas",
      "Die große kostet elftausendvierhundert, die kleine achttausendneunhundert. Die Kette für die Mauer zweitausendsechshundert. Verankerung und Einbau für alle drei zusammen viertausendachthundert, bei zwei Tagen vor Ort.",
    ],
    ["holger", "Das sind dann neununddreißigtausendeinhundert."],
    [
      "lukas",
      "Sie sind schneller als meine Tabelle. Dazu kommt der Dienst, also Tideline mit den Alarmen, fünfundvierzig Euro je Boje im Monat.",
    ],
    ["holger", "Tausendsechshundertzwanzig im Jahr. Gibt es da eine Preisbindung?"],
    ["lukas", "Für zwei Jahre fest. Danach höchstens die amtliche Teuerung, das steht so im Vertrag."],
    [
      "holger",
      "Ab vierzigtausend muss ich ausschreiben. Wir liegen also neunhundert Euro darunter. Das ist hoffentlich Zufall.",
    ],
    [
      "lukas",
      "Das ist Zufall, ich kannte Ihre Grenze nicht. Aber ich freue mich jetzt natürlich über die kleine Boje.",
    ],
    ["jutta", "Sehen Sie, Herr Dankwart, jetzt lächeln Sie doch."],
    [
      "holger",
      "Das ist mein Gesicht beim Rechnen. Zählt der Dienst in die Summe hinein? Wenn ich vier Jahre rechne, bin ich bei fünfundvierzigtausend, und dann schreibe ich aus.",
    ],
    [
      "lukas",
      "Das müssen Sie nach Ihren Regeln entscheiden. Ich würde nichts stückeln, damit es passt. Wenn Sie ausschreiben, bieten wir eben mit.",
    ],
    [
      "holger",
      "Das höre ich gern. Ich kläre das mit unserer Rechtsabteilung. Die Antwort haben Sie in zehn Tagen.",
    ],
    [
      "jutta",
      "Ich habe noch etwas Fachliches, und das ist mir wichtiger als das Geld. Ich habe von Ihrem Ausfall gelesen, drei Stunden ohne Alarme. Es ist Trinkwasser, da frage ich nach.",
    ],
    [
      "lukas",
      "Zu Recht. Es waren drei Stunden und zwölf Minuten. Die Festplatte eines Servers war voll, und unsere Überwachung lief über denselben Server.",
    ],
    ["jutta", "Das ist ja wie ein Rauchmelder, der am selben Stromkreis hängt wie der Herd."],
    [
      "lukas",
      "Genau so. Inzwischen überwacht uns ein zweites System bei einem anderen Anbieter, das jeden Mittag absichtlich ausgelöst wird. Und die neue Boje kann eine Textnachricht selbst schicken, ganz ohne uns.",
    ],
    ["jutta", "Auch ohne Mobilfunk? Wir haben an der Mauer einen Balken, wenn es nicht regnet."],
    [
      "lukas",
      "Ohne Netz geht auch das nicht. Ich würde vor dem Angebot gern einen Messkoffer schicken, den stellen Sie drei Tage an die Mauer, und dann wissen wir es. Für die große gibt es eine höhere Antenne.",
    ],
    ["jutta", "Schicken Sie den Koffer. Ich stelle ihn selbst auf, ich wollte ohnehin mal wieder raus."],
    ["holger", "Kostet der Koffer etwas?"],
    ["lukas", "Nur die Rücksendung. Und wenn er ins Wasser fällt, achthundert Euro."],
    [
      "jutta",
      "Er wird nicht ins Wasser fallen. Und die Daten, wo liegen die? Das fragt mich sonst der Datenschutz, obwohl es Wasser ist.",
    ],
    [
      "lukas",
      "In zwei Rechenzentren in der EU. Sie können alles jederzeit als Tabelle herunterladen, auch nach einer Kündigung noch neunzig Tage lang.",
    ],
    ["holger", "Noch eine Frage zur Gewährleistung. Zwei Jahre?"],
    [
      "lukas",
      "Drei, auf Gehäuse und Dichtung sogar fünf. Das ist neu, das haben wir nach den Dichtungen beschlossen. Wenn wir schon jeden Deckel nummerieren, können wir auch dafür einstehen.",
    ],
    [
      "gwen",
      "Darf ich kurz? Die fünf Jahre gelten auch im Süßwasser. Und bitte, wie heißt das Tier auf Ihrem Logo?",
    ],
    ["jutta", "Das ist ein Eisvogel, und Ihr Deutsch ist ausgezeichnet."],
    [
      "lukas",
      "Ich fasse zusammen. Zwei große, eine kleine, eine Kette mit dreißig Metern. Der Messkoffer geht morgen raus. Das Angebot bekommen Sie, sobald die Empfangswerte da sind, spätestens in zwei Wochen.",
    ],
    ["holger", "Und ich sage Ihnen in zehn Tagen, ob es ein Auftrag wird oder eine Ausschreibung."],
    ["jutta", "Und Sie rufen an, wenn etwas feucht wird."],
    ["lukas", "Am selben Tag. Vielen Dank Ihnen beiden, und grüßen Sie den Eisvogel."],
    ["jutta", "Mache ich. Auf Wiederhören."],
  ]),
};
