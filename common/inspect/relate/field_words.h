/* SPDX-License-Identifier: Apache-2.0 */
/* field_words.h - the words that field_names.c knows: in the singular and in small letters. */
#ifndef MRSI_INSPECT_FIELD_WORDS_H
#define MRSI_INSPECT_FIELD_WORDS_H

#include <stddef.h>

static const char *const id_words[] = {"id", "ids", "oid", "uuid",   "guid", "key", "keys",  "sk",   "fk", "pk",
                                       "no", "nr",  "num", "number", "code", "cd", "ref", "ident", "link", "numero",
                                       "nummer", "nro", "codigo", NULL};
static const char *const fillers[] = {"dim",  "fact",    "tbl",        "table",  "tab",    "coll", "collection",
                                      "data", "datum",   "info",       "list",   "master", "doc",  "record",
                                      "all",  "current", "historical", "lookup", NULL};
static const char *const persons[] = {
    "user",       "person",  "member",   "account", "employee",   "customer", "author", "staff",      "player",
    "contact",    "client",  "patient",  "student", "teacher",    "driver",   "agent",  "legislator", "worker",
    "subscriber", "profile", "lecturer", "doctor",  "professor",  "nurse",    "clerk",  "operator",   "guest",
    "tenant",     "trainer", "tutor",    "officer", "technician", "actor",   "citizen",   "resident",
    /* of other languages */
    "persona", "pessoa", "personne", "persoon", "osoba", "kunde", "benutzer", "mitarbeiter", "cliente", "klant",
    "klient", "usuario", "utente", "utilisateur", "gebruiker", "uzytkownik", "pracownik", "medewerker",
    "funcionario", "empleado", "dipendente", "employe", "relatie", "gast", "hospede", "huesped", "spieler", "jugador",
    "jogador", "joueur", "gracz", "schueler", "alumno", "aluno", "eleve", "uczen", "lehrer", "profesor", "professeur",
    "fahrer", "chauffeur", "medecin", "paciente", "socio", "mitglied", "membre", "miembro", "membro", NULL};
static const char *const roles[] = {
    "owner", "author", "user", "creator", "assignee", "manager", "reviewer", "by", "member", "sender", "recipient",
    "from", "to", "poster", "person", "seller", "buyer", "customer", "boss", "supervisor", "editor", "approver",
    "responsible", "contact", "lead", "mentor", "friend", "follower", "doctor", "leader", "tutor", "trainer",
    "coach", "lecturer", "practitioner", "rep", "representative", "agent", "officer", "approved", "participant",
    "attendee", "host", "guest", "moderator", "handler", "dispatcher", "cashier", "inspector", "salesperson",
    "teller", "coordinator", "recruiter", "interviewer", "referrer", "invited", "modifier", "updater", "uploader",
    "reporter", "requester", "submitter", "collaborator", "commenter", "booker", "helm", "crew", "captain",
    "skipper", "pilot", "judge", "referee", "umpire", "arbiter", "organizer", "curator", "vet", "winner", "loser",
    "opponent", "borrower", "reader", "donor", "lender", "artist", "composer", "director", "actor", "writer",
    "translator", "landlord", "broker", "auditor", "examiner", "candidate", "applicant", "physician", "surgeon",
    "witness", "beneficiary", "guardian", "white", "black", "renter", "payer", "payee", "instructor", "head",
    "chair", "operator", "following", "like", "liked", NULL};
/* of persons, or in a collection of persons */
static const char *const relatives[] = {
    "mother", "father", "husband", "wife", "bride", "groom", "spouse", "sibling", "heir", "godparent", "child",
    "mutter", "vater", "mann", "frau", "mere", "pere", "enfant", "mari", "epouse", "madre", "padre", "hijo", "hija",
    "mae", "pai", "filho", "filha", "marido", "esposa", "figlio", "figlia", "marito", "moglie", "moeder", "vader",
    "vrouw", "matka", "ojciec", "dziecko", "maz", "zona", NULL};
static const char *const foreign_roles[] = {
    "besitzer", "inhaber", "autor", "ersteller", "bearbeiter", "betreuer", "leiter", "fahrer", "verkaeufer",
    "proprietaire", "auteur", "createur", "proprietario", "propietario", "responsable", "responsavel",
    "responsabile", "autore", "dono", "vendedor", "comprador", "eigenaar", "koper", "verkoper", "lener",
    "wlasciciel", "swiad", "opiekun", "chrzest", "jefe", "chefe", "chef", "encargado", "kierownik", "szef", NULL};
/* "gemeldetVon", "creado_por" */
static const char *const foreign_by[] = {"von", "por", "par", "door", "przez", "da", "av", NULL};
/* in the same collection: what is above, before or after */
static const char *const foreign_own[] = {
    "vorgaenger", "nachfolger", "uebergeordnet", "padre", "pai", "precedent", "suivant", "superieur", "anterior",
    "siguiente", "seguinte", "superiore", "successiv", "vorig", "volgend", "boven", "nadrzedn", "poprzedni", "nastepn",
    "foregaende", "overordnad", "onceki", "sonraki", NULL};
static const char *const foreign_ranks[] = {
    "vorgesetzt", "leiter", "jefe", "chef", "capo", "leidinggevend", "szef", "kierownik", "przelozon", "encargado",
    "gerente", "yonetici", "vertret", "stellvertret", "geworben", "empfohlen", "parrain", NULL};
static const char *const vague_roles[] = {"from", "to",      "like",      "liked", "head",
                                          /* often with another meaning */
                                          "host", "contact", "following", "lead",  NULL};
static const char *const own_words[] = {
    "parent",      "ancestor",    "child",    "reply",      "previous",    "next",     "root",        "prev",
    "predecessor", "successor",   "blocked",  "depend",     "related",     "similar",  "duplicate",   "superior",
    "mother",      "father",      "replace",  "replaced",   "superseded",  "original", "sub",         "above",
    "moved",       "merged",      "copied",   "cloned",     "forked",      "accepted", "quoted",      "backup",
    "alternate",   "alternative", "fallback", "substitute", "replacement", "problem",  "counterpart", "twin",
    "epic",        "linked",      "depends",  "blocks",     "block",       "report",   "reports",     NULL};
/* superiors in the same collection */
static const char *const ranks[] = {"manager", "supervisor", "boss",      "superior", "mentor",  "leader", "lead",
                                    "friend",  "follower",   "following", "buddy",    "partner", "spouse", "deputy",
                                    "referred", "invited",   "recruited", "sponsor",  NULL};
/* who has a superior is no customer */
static const char *const superiors[] = {"manager", "supervisor", "boss", "superior",  "leader", "lead", "chief",
                                        "chef",    "jefe",       "chefe", "szef", "kierownik", NULL};
static const char *const buyers[] = {"customer", "client", "cliente", "kunde",      "klant",
                                     "klient",   "guest",  "patient", "subscriber", NULL};
static const char *const measures[] = {
    "price",    "cost",     "amount", "total",  "sum",      "qty",      "quantity", "count",    "score",
    "point",    "level",    "weight", "height", "size",     "length",   "age",      "year",     "percent",
    "rank",     "position", "pos",    "order",  "sort",     "seq",      "index",    "page",     "day",
    "month",    "week",     "hour",   "minute", "view",     "like",     "vote",     "rating",   "value",
    "grade",    "balance",  "stock",  "seat",   "capacity", "ordering", "sequence", "duration", "second",
    "distance", "lap",      "round",  "grid",   "limit",    "min",      "max",      "avg",      "yr",
    "wk",       "qtr",      "hr",     "amt",    "prc",      "cnt",      "pct",      "wt",       "lvl",
    "width",    "depth",    "area",   "volume", "loudness", "speed",    "power",    "energy",   "strength",
    "pressure", "humidity", "temp",   "temperature", "tempo", "dose",   "voltage",  "altitude", "elevation",
    /* of other languages */
    "preis", "betrag", "menge", "anzahl", "summe", "gewicht", "laenge", "groesse", "jahr", "monat", "woche", "stunde",
    "stunden", "minuten", "sekunden", "dauer", "wert", "prix", "montant", "quantite", "nombre", "poids", "taille",
    "longueur", "annee", "mois", "jour", "semaine", "heure", "duree", "precio", "importe", "cantidad", "peso", "altura",
    "edad", "anyo", "ano", "mes", "dia", "semana", "hora", "minuto", "duracion", "saldo", "preco", "valor",
    "quantidade", "idade", "duracao", "prezzo", "importo", "quantita", "qta", "altezza", "lunghezza", "anno", "mese",
    "giorno", "settimana", "minuti", "durata", "valore", "prijs", "bedrag", "aantal", "hoogte", "leeftijd", "jaar",
    "maand", "uur", "duur", "waarde", "cena", "kwota", "ilosc", "waga", "wiek", "rok", "miesiac", "wartosc", "fiyat",
    "tutar", "miktar", "adet", "yas", "yil", "dakika", "puan", "pris", "antal", "belopp", "vikt", "alder", NULL};

#endif
