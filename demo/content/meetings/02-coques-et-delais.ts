import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Flasques Heron 2 : cotes, délais et partage des frais",
  daysAgo: 36,
  startsAt: "13:30",
  meetingType: "Partner Meeting",
  recorders: ["aurelie.quemener@wrackline.example"],
  participants: [
    { key: "aurelie", name: "Aurélie Quémener", email: "aurelie.quemener@wrackline.example" },
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
    { key: "yannick", name: "Yannick Le Scouarnec", email: "y.lescouarnec@ateliers-ploumarec.example" },
    { key: "solene", name: "Solène Abgrall", email: "s.abgrall@ateliers-ploumarec.example" },
  ],
  team: "Devices",
  sharedWithUsers: ["marit.aalvik@wrackline.example", "piotr.wilkosz@wrackline.example"],
  shareState: "restricted",
  tags: ["heron-2", "fournisseur", "délais"],
  language: "fr",
  media: "audio",
  segments: timed({ minutes: 7.6 }, [
    [
      "aurelie",
      "Bonjour Yannick, bonjour Solène. Merci d'avoir trouvé une heure. Je suis avec Gwen, notre cheffe de produit, qui apprend le français depuis trois semaines.",
    ],
    ["gwen", "Bonjour. Je comprends presque tout, si vous parlez comme à un enfant un peu sourd."],
    ["yannick", "Alors on va articuler. Bonjour Gwen, c'est déjà mieux que mon anglais."],
    [
      "aurelie",
      "Bon. Je ne vais pas tourner autour du pot. Sur quarante bouées en bassin, sept ont pris l'eau, et les sept avaient des flasques de votre deuxième livraison.",
    ],
    [
      "solene",
      "J'ai bien reçu vos mesures. J'ai refait les miennes hier sur les douze flasques qu'on garde en témoin, et je trouve pareil. La gorge du joint est trop profonde sur cinq des douze.",
    ],
    [
      "yannick",
      "De combien, exactement ? Parce que moi, au téléphone, j'ai entendu quinze centièmes, et ça m'a coupé le déjeuner.",
    ],
    [
      "solene",
      "Entre douze et dix-sept centièmes de trop. Le plan dit deux millimètres quarante, plus ou moins cinq centièmes. Ma pire pièce est à deux cinquante-sept.",
    ],
    ["aurelie", "C'est aussi la valeur maximale de Piotr. Au moins, nos jauges sont d'accord."],
    [
      "yannick",
      "Je vous dois une explication. On a changé la plaquette du tour entre les deux livraisons. La référence du fabricant est la même, mais le rayon de bec n'est pas tout à fait le même, et le correcteur n'a pas été repris.",
    ],
    [
      "solene",
      "Ce n'est pas tout. La première pièce était bonne parce qu'on l'a faite à la main, en réglage. La dérive commence après, quand la machine chauffe. On l'aurait vue si on avait mesuré une pièce sur vingt.",
    ],
    ["yannick", "Solène me demande ce contrôle depuis un an, je le dis avant qu'elle ne le dise."],
    ["solene", "Un an et deux mois. Mais je ne compte pas."],
    [
      "aurelie",
      "Je préfère entendre ça que des excuses. Maintenant, les pièces. Il m'en faut cent vingt bonnes dans moins de trois semaines, et les trente premières dans une semaine, pour notre petit bassin.",
    ],
    [
      "yannick",
      "Les trente, oui. J'ai deux plaquettes de l'ancien modèle au fond d'un tiroir, je peux tourner dès demain. Les cent vingt, ça dépend du grand tour, et le grand tour est pris par un client du nautisme jusqu'à la fin de la semaine prochaine.",
    ],
    ["aurelie", "Et sur le petit tour ?"],
    [
      "yannick",
      "Quinze par jour, en serrant les dents. Sur le grand, quarante. Donc je fais les trente premières sur le petit, je bascule ensuite, et vous avez vos cent vingt dans dix-huit jours.",
    ],
    [
      "aurelie",
      "Dix-huit jours, c'est ce que j'ai dans mon planning, mais sans aucune marge. Qu'est-ce qui pourrait nous coûter une journée ?",
    ],
    [
      "yannick",
      "L'anodisation. Ce n'est pas chez nous, et ils ont un bain en révision. Normalement il repart dans une semaine. Normalement.",
    ],
    [
      "solene",
      "On peut leur envoyer les trente premières avec une commande urgente. Ils ont un petit bain pour les échantillons. Ça coûte cent quatre-vingts euros de plus.",
    ],
    [
      "aurelie",
      "Prenez le petit bain. Cent quatre-vingts euros, c'est le prix de deux minutes de retard chez nous.",
    ],
    ["gwen", "Pardon, une question. Est-ce que l'anodisation change la profondeur ?"],
    [
      "solene",
      "Très bonne question, madame qui apprend depuis trois semaines. Oui, la couche mange environ un centième de chaque côté. Donc je mesure avant et après, et c'est la valeur d'après qui compte.",
    ],
    ["gwen", "Merci. J'ai préparé cette phrase pendant dix minutes."],
    [
      "aurelie",
      "Et elle valait les dix minutes. Justement, le contrôle : Devika veut chaque pièce mesurée chez vous, avec un numéro gravé et une ligne dans un protocole.",
    ],
    ["yannick", "Chaque pièce. Gravée. Vous savez ce que ça représente sur deux cent soixante flasques ?"],
    [
      "solene",
      "Quarante secondes pour la mesure, vingt pour le laser. Une minute par pièce, donc un peu plus de quatre heures en tout. J'ai fait le calcul pendant que tu soupirais.",
    ],
    ["yannick", "Je n'ai pas soupiré."],
    [
      "aurelie",
      "J'avais annoncé que vous soupireriez, Yannick, ne me faites pas mentir. Donc on est d'accord sur le principe ?",
    ],
    ["yannick", "Sur le principe, oui. Le numéro, on le grave où ? Pas sur la portée du joint, évidemment."],
    [
      "solene",
      "Sur la face extérieure, à côté du trou de purge. Il y a huit millimètres de plat. Quatre chiffres y tiennent.",
    ],
    [
      "aurelie",
      "Parfait. Envoyez-moi un croquis et je le fais valider par Devika demain matin. Et le protocole, un tableau simple : numéro, cote avant, cote après, date, vos initiales.",
    ],
    [
      "solene",
      "Vous l'aurez avec chaque carton, et en fichier. Je préfère qu'on rejette au-dessus de deux quarante-trois, pas quarante-cinq. Ça me laisse deux centièmes pour l'humeur de la jauge.",
    ],
    ["aurelie", "J'aime beaucoup cette idée. Combien de rebut en plus, à votre avis ?"],
    [
      "solene",
      "Avec la bonne plaquette, deux ou trois pour cent. Avec la mauvaise, on aurait tout jeté, mais c'est un autre sujet.",
    ],
    ["yannick", "C'est le sujet suivant, je pense. L'argent."],
    [
      "aurelie",
      "Oui. Les deux cent soixante flasques de la deuxième livraison, nous ne les utiliserons dans aucune bouée vendue. Pour moi, elles vous reviennent.",
    ],
    ["yannick", "Une partie est bonne. Cent soixante environ, d'après vos propres chiffres."],
    [
      "aurelie",
      "Bonnes selon la cote, oui, mais nous ne bâtissons pas une série sur un lot trié. Vous ne le feriez pas non plus pour une vanne.",
    ],
    [
      "yannick",
      "Non, c'est vrai. Mais comprenez-moi : la matière seule, c'est onze euros la pièce, et l'usinage dix-neuf. Ça fait sept mille huit cents euros sur la table.",
    ],
    [
      "aurelie",
      "Et de notre côté, cinq semaines de retard. Je ne vous les facture pas, je vous les raconte seulement.",
    ],
    [
      "solene",
      "Est-ce qu'on ne pourrait pas reprendre les mauvaises ? Une bague rapportée, collée, et on retrouve la cote.",
    ],
    [
      "aurelie",
      "Sous deux bars, avec la marée, pendant cinq ans ? Piotr me jetterait dans le bassin avec le canard.",
    ],
    ["yannick", "Il y a un canard ?"],
    ["gwen", "Il y a un canard. Il s'appelle Numéro Huit. Il est parfaitement sec."],
    [
      "yannick",
      "Alors achetez des canards. Bon. Je propose ceci : on reprend tout le lot, nous payons soixante pour cent, vous quarante. Et les bonnes, je les revends en pièces d'exercice à un lycée technique.",
    ],
    [
      "aurelie",
      "Soixante-dix, trente. Et nous payons la gravure et la mesure, pour toujours, pas seulement cette fois.",
    ],
    [
      "yannick",
      "Soixante-cinq, trente-cinq, et vous payez la gravure. Vous avez gagné quelque chose, moi aussi, et Solène a son contrôle.",
    ],
    ["solene", "C'est surtout moi qui ai gagné."],
    [
      "aurelie",
      "D'accord pour soixante-cinq, trente-cinq, sous réserve de Marit, mais je ne crains rien de ce côté. Je vous le confirme par écrit demain.",
    ],
    [
      "yannick",
      "Et pour la suite, la série ? Vous parliez de huit cents flasques sur l'année. C'est toujours vrai, ou vous cherchez déjà quelqu'un d'autre ?",
    ],
    [
      "aurelie",
      "C'est toujours vrai. Si les cent vingt arrivent dans dix-huit jours et qu'elles sont sèches au bassin, je n'ai aucune raison de chercher. Si elles n'arrivent pas, je n'aurai pas le choix.",
    ],
    [
      "yannick",
      "C'est honnête. Je mets Maël sur le grand tour en deux équipes. Il râlera, mais il râle bien.",
    ],
    [
      "solene",
      "Je récapitule ? Trente flasques dans une semaine, petit bain d'anodisation. Cent vingt dans dix-huit jours. Mesure et gravure pièce par pièce, rejet au-dessus de deux quarante-trois.",
    ],
    [
      "aurelie",
      "Exactement. Et un coup de fil tous les deux jours, même s'il n'y a rien à dire. Surtout s'il n'y a rien à dire.",
    ],
    ["yannick", "Entendu. Gwen, vous avez tout compris ?"],
    ["gwen", "J'ai compris trente, cent vingt, deux quarante-trois, et que Yannick a soupiré."],
    [
      "yannick",
      "Elle est prête pour la Bretagne. Bonne fin de journée à vous deux, et mes excuses encore, sincèrement.",
    ],
    ["aurelie", "Merci à vous deux. À après-demain, au téléphone."],
  ]),
};
